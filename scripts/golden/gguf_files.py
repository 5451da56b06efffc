#!/usr/bin/env python3
"""Makes tests/golden/gguf: the tiny models and tokenizers of tests/golden as GGUF files, and the ids
that llama.cpp's tokenizer gives for some texts.

    pip install gguf==0.19.0 llama-cpp-python==0.3.36 safetensors==0.8.0 transformers==5.23.0 torch
    scripts/golden/gguf_files.py [NAME …]

With names of models or scalings only these are made, which needs no llama-cpp-python.
"""

import json
import math
import pathlib
import sys
import unicodedata

import numpy
from gguf import GGUFWriter, RopeScalingType
from safetensors.numpy import load_file
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

GOLDEN = pathlib.Path(__file__).parents[2] / "tests/golden"
# The folder of the model, the architecture in the file, and whether heads turn in pairs there.
MODELS = {"llama": ("llama", True), "mistral": ("llama", True), "qwen2": ("qwen2", False), "qwen3": ("qwen3", False),
          "gemma3": ("gemma3", False), "smollm3": ("smollm3", True), "phi3": ("phi3", False),
          "granite": ("granite", True), "olmo2": ("olmo2", False)}
# Variants of tests/golden/model_variants.json whose rotary scaling a file of its own has.
SCALINGS = ["linear", "yarn", "yarn_attention", "longrope_long"]
# The tokenizer, and the name of its division into pieces.
TOKENIZERS = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen2": "qwen2", "llama2": None}
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
GEMMA_NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
PHI_NAMES = {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"}
OLMO_NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
OTHER_NAMES = {"gemma3": GEMMA_NAMES, "phi3": PHI_NAMES, "olmo2": OLMO_NAMES}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def name_in_file(name, architecture):
    names = NAMES | OTHER_NAMES.get(architecture, {})
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("model.layers."):
        layer, part = stem.removeprefix("model.layers.").split(".", 1)
        return f"blk.{layer}.{names[part]}.{kind}"
    return f"{names[stem]}.{kind}"


def in_pairs(rows, heads):
    """The halves of each head next to each other."""
    size = rows.shape[0] // heads // 2
    return rows.reshape(heads, 2, size, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def rope_divisors(config):
    """By what transformers' frequencies of Llama 3 are smaller than the plain ones."""
    config = LlamaConfig(**config)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    size = config.head_dim
    plain = config.rope_parameters["rope_theta"] ** -(numpy.arange(0, size, 2) / size)
    return (plain / scaled.numpy()).astype(numpy.float32)


def start_model(path, architecture, config):
    """A file with the values that all architectures have."""
    writer = GGUFWriter(path, architecture)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    return writer


def write_scaling(name):
    """A file without weights that says what scales the rotary frequencies, as llama.cpp's converter
    writes it."""
    variant = json.loads((GOLDEN / "model_variants.json").read_text())["variants"][name]
    config, rope = variant["config"], variant["config"]["rope_parameters"]
    writer = start_model(GOLDEN / "gguf" / f"rope_{name}.gguf", variant["model"], config)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    if rope["rope_type"] == "longrope":
        original = rope["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / original
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors((1 + math.log(scale) / math.log(original)) ** 0.5)
        for kind in ("long", "short"):
            factors = numpy.array(rope[f"{kind}_factor"], numpy.float32)
            writer.add_tensor(f"rope_factors_{kind}.weight", factors)
    else:
        writer.add_rope_scaling_type(RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "attention_factor" in rope:
            writer.add_rope_scaling_yarn_attn_factor(rope["attention_factor"])
    finish(writer)


def write_model(folder):
    architecture, pairs = MODELS[folder]
    config = json.loads((GOLDEN / "models" / folder / "config.json").read_text())
    writer = start_model(GOLDEN / "gguf" / f"{folder}.gguf", architecture, config)
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    rope = config["rope_parameters"]
    if architecture == "gemma3":
        writer.add_rope_freq_base(rope["full_attention"]["rope_theta"])
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        writer.add_sliding_window(config["sliding_window"])
        writer.add_uint32("gemma3.attention.sliding_window_pattern", 2)
    else:
        writer.add_rope_freq_base(rope["rope_theta"])
    if config.get("head_dim"):
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    if architecture == "granite":
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    if architecture == "phi3":
        writer.add_sliding_window(config["sliding_window"])
        writer.add_rope_dimension_count(config["hidden_size"] // heads)
    if rope.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_divisors(config))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([f"t{i}" for i in range(config["vocab_size"])])
    writer.add_token_merges(["t 1"])
    for name, tensor in load_file(GOLDEN / "models" / folder / "model.safetensors").items():
        if pairs and ("q_proj" in name or "k_proj" in name):
            tensor = in_pairs(tensor, heads if "q_proj" in name else kv_heads)
        if architecture == "gemma3" and name.endswith("norm.weight"):
            tensor = tensor + 1
        writer.add_tensor(name_in_file(name, architecture), numpy.ascontiguousarray(tensor))
    finish(writer)


def write_tokenizer(kind):
    tokenizer = json.loads((GOLDEN / f"tokenizers/{kind}.json").read_text())["tokenizer"]
    ids = dict(tokenizer["model"]["vocab"])
    types = {text: NORMAL for text in ids}
    for token in tokenizer["added_tokens"]:
        ids[token["content"]] = token["id"]
        types[token["content"]] = CONTROL if token["special"] else USER_DEFINED
    tokens = sorted(ids, key=ids.get)
    assert [ids[token] for token in tokens] == list(range(len(tokens)))
    merges = [m.split(" ") if isinstance(m, str) else m for m in tokenizer["model"]["merges"]]
    import llama_cpp

    path = GOLDEN / "gguf" / f"tokenizer_{kind}.gguf"
    writer = GGUFWriter(path, "llama")
    if TOKENIZERS[kind] is None:
        unknown = tokenizer["model"]["unk_token"]
        types[unknown] = UNKNOWN
        for text in tokens:
            if text.startswith("<0x") and text.endswith(">"):
                types[text] = BYTE
        # The first merge has the highest score.
        merged = [a + b for a, b in merges]
        scores = [-float(merged.index(text)) if text in merged else -1e6 for text in tokens]
        writer.add_tokenizer_model("llama")
        writer.add_token_scores(scores)
        writer.add_unk_token_id(ids[unknown])
        writer.add_add_space_prefix(True)
    else:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(TOKENIZERS[kind])
        writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_add_bos_token(False)
    writer.add_token_list(tokens)
    writer.add_token_types([types[token] for token in tokens])
    # llama.cpp needs them to load a vocabulary alone.
    writer.add_embedding_length(8)
    writer.add_feed_forward_length(8)
    writer.add_block_count(1)
    writer.add_head_count(1)
    writer.add_context_length(8)
    writer.add_layer_norm_rms_eps(1e-5)
    finish(writer)
    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    # llama.cpp leaves out the normalisation (NFC) of Qwen's own tokenizer.
    form = (lambda text: unicodedata.normalize("NFC", text)) if kind == "qwen2" else str
    # A token that is not in that form is found in a text as it stands, and then nothing to compare.
    odd = [token for token in tokens if form(token) != token]
    return [
        None if any(token in text for token in odd)
        else model.tokenize(form(text).encode(), add_bos=False, special=True)
        for text in texts()
    ]


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def texts():
    """Those of the other golden ids, joined in many ways."""
    parts = json.loads((GOLDEN / "tokenizers/strings.json").read_text())["parts"]
    random = numpy.random.default_rng(11)
    return parts + ["".join(random.choice(parts, random.integers(2, 6))) for _ in range(200)]


def main():
    (GOLDEN / "gguf").mkdir(exist_ok=True)
    for name in sys.argv[1:] or [*MODELS, *SCALINGS]:
        write_model(name) if name in MODELS else write_scaling(name)
    if sys.argv[1:]:
        return
    ids = {kind: write_tokenizer(kind) for kind in TOKENIZERS}
    text = {"texts": texts(), "ids": ids}
    path = GOLDEN / "gguf/ids.json"
    path.write_text(json.dumps(text, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

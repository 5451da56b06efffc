#!/usr/bin/env python3
"""The speed of llama.cpp on lm_bench's model: prompts (prefill) and generation (decode).

    lm_bench --write_model DIR && python3 tests/bench/lm_llama_cpp.py DIR --threads 2
    python3 tests/bench/lm_llama_cpp.py FILE.gguf
    python3 tests/bench/lm_llama_cpp.py DIR --dtype q4_k --keep FILE.gguf   only writes the file
    python3 tests/bench/lm_llama_cpp.py FILE.gguf --perplexity TEXT   as lm_bench --perplexity

Prints tokens per second in lm_bench's format. The fastest of --rounds counts, as there. Needs
llama-cpp-python, gguf, torch and safetensors. The weights are converted to GGUF in a temporary folder
and quantised by llama.cpp; all calls are those of llama.h, so that nothing of the Python package stands between.
"""

import argparse
import ctypes
import json
import math
import pathlib
import random
import resource
import tempfile
import time

import gguf
import llama_cpp
import torch
from safetensors import safe_open

NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}
TYPES = {"float32": gguf.GGMLQuantizationType.F32, "bfloat16": gguf.GGMLQuantizationType.BF16}
# What llama.cpp makes of float32 or of another file.
FILE_TYPES = {
    "bfloat16": llama_cpp.LLAMA_FTYPE_MOSTLY_BF16, "q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0,
    "q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, "q4_k": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M,
}


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def interleave(weight, heads):
    """GGUF's Llama turns neighbouring values of a head, Hugging Face's the two halves."""
    rows, columns = weight.shape
    return weight.view(heads, 2, rows // heads // 2, columns).transpose(1, 2).reshape(rows, columns)


def quantise(file, dtype, path):
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = FILE_TYPES[dtype]
    params.allow_requantize = True
    if llama_cpp.llama_model_quantize(str(file).encode(), str(path).encode(),
                                      ctypes.byref(params)) != 0:
        raise RuntimeError("llama_model_quantize failed")


def convert(folder, dtype, path):
    if dtype not in TYPES or folder.is_file():
        with tempfile.TemporaryDirectory() as scratch:
            wide = pathlib.Path(scratch) / "wide.gguf"
            if folder.is_dir():
                convert(folder, "float32", wide)
            quantise(wide if folder.is_dir() else folder, dtype, path)
        return
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    with safe_open(folder / "model.safetensors", "pt") as tensors:
        for name in tensors.keys():
            weight = tensors.get_tensor(name).float()
            if "q_proj" in name:
                weight = interleave(weight, config["num_attention_heads"])
            if "k_proj" in name:
                weight = interleave(weight, config["num_key_value_heads"])
            kind = TYPES[dtype] if weight.dim() == 2 else gguf.GGMLQuantizationType.F32
            data = gguf.quants.quantize(weight.contiguous().numpy(), kind)
            writer.add_tensor(gguf_name(name), data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Batch:
    """Tokens for one llama_decode: (sequence, position, token, whether logits are wanted)."""

    def __init__(self, capacity):
        self.batch = llama_cpp.llama_batch_init(capacity, 0, 1)

    def decode(self, context, entries):
        self.batch.n_tokens = len(entries)
        for i, (sequence, position, token, wanted) in enumerate(entries):
            self.batch.token[i] = token
            self.batch.pos[i] = position
            self.batch.n_seq_id[i] = 1
            self.batch.seq_id[i][0] = sequence
            self.batch.logits[i] = wanted
        if llama_cpp.llama_decode(context, self.batch) != 0:
            raise RuntimeError("llama_decode failed")

    def close(self):
        llama_cpp.llama_batch_free(self.batch)


def logits(context, index, vocabulary):
    row = llama_cpp.llama_get_logits_ith(context, index)
    floats = (ctypes.c_float * vocabulary).from_address(ctypes.addressof(row.contents))
    return torch.frombuffer(floats, dtype=torch.float32).clone()


def highest(context, index, vocabulary):
    return int(logits(context, index, vocabulary).argmax())


def measure(model, batch, vocabulary, args):
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = batch * (args.prompt + args.tokens + 64)
    params.n_batch = params.n_ubatch = 512
    params.n_seq_max = batch
    params.n_threads = params.n_threads_batch = args.threads
    context = llama_cpp.llama_init_from_model(model, params)
    source = random.Random(3)
    prompts = [[source.randrange(vocabulary) for _ in range(args.prompt)] for _ in range(batch)]
    inputs = Batch(max(512, batch))
    next_tokens = []
    start = time.perf_counter()
    for sequence, prompt in enumerate(prompts):
        for first in range(0, args.prompt, 512):
            entries = [(sequence, first + i, token, first + i + 1 == args.prompt)
                       for i, token in enumerate(prompt[first:first + 512])]
            inputs.decode(context, entries)
        next_tokens.append(highest(context, len(entries) - 1, vocabulary))
    prefill = time.perf_counter() - start
    start = time.perf_counter()
    for step in range(args.tokens):
        inputs.decode(context, [(sequence, args.prompt + step, token, True)
                                for sequence, token in enumerate(next_tokens)])
        next_tokens = [highest(context, i, vocabulary) for i in range(batch)]
    decode = time.perf_counter() - start
    inputs.close()
    llama_cpp.llama_free(context)
    return batch * args.prompt / prefill, batch * args.tokens / decode


def perplexity(path, args):
    """exp of the mean of -ln p(token), in windows that are read without what is before them."""
    model = llama_cpp.llama_model_load_from_file(
        str(path).encode(), llama_cpp.llama_model_default_params())
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    text = args.perplexity.read_bytes()
    ids = (llama_cpp.llama_token * (len(text) + 1))()
    ids = ids[:llama_cpp.llama_tokenize(vocabulary, text, len(text), ids, len(ids), False, False)]
    bos = [llama_cpp.llama_vocab_bos(vocabulary)] if llama_cpp.llama_vocab_get_add_bos(vocabulary) else []
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = args.prompt + 1
    params.n_threads = params.n_threads_batch = args.threads
    params.type_k = params.type_v = llama_cpp.GGML_TYPE_F32
    params.flash_attn_type = 0
    total, count = 0.0, 0
    inputs = Batch(args.prompt + 1)
    for first in range(0, len(ids), args.prompt):
        context = llama_cpp.llama_init_from_model(model, params)
        window = bos + ids[first:first + args.prompt]
        inputs.decode(context, [(0, i, token, True) for i, token in enumerate(window)])
        rows = torch.stack([logits(context, i, llama_cpp.llama_vocab_n_tokens(vocabulary))
                            for i in range(len(window) - 1)])
        losses = torch.nn.functional.cross_entropy(rows.double(), torch.tensor(window[1:]), reduction="sum")
        total, count = total + float(losses), count + len(window) - 1
        llama_cpp.llama_free(context)
    print(f"file       perplexity {math.exp(total / count):.4f} of {count} tokens")


def measure_file(path, dtype, args):
    model = llama_cpp.llama_model_load_from_file(
        str(path).encode(), llama_cpp.llama_model_default_params())
    vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    for batch in args.batch:
        runs = [measure(model, batch, vocabulary, args) for _ in range(args.rounds)]
        prefill, decode = (max(values) for values in zip(*runs))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{dtype:<10} {batch:>5}  {prefill:>8.0f}  {decode:>8.0f}  {peak:>8.0f}", flush=True)
    llama_cpp.llama_model_free(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="folder written by lm_bench --write_model, or a GGUF file")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="only write the GGUF file of --dtype")
    parser.add_argument("--perplexity", type=pathlib.Path, help="only the perplexity of this text")
    args = parser.parse_args()

    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    if args.keep:
        convert(args.model, args.dtype[0], args.keep)
        return
    if args.perplexity:
        perplexity(args.model, args)
        return
    print(f"llama-cpp-python {llama_cpp.__version__}: prompt {args.prompt}, {args.tokens} tokens, "
          f"{args.threads} threads; tokens per second, the fastest of {args.rounds}\n\n"
          "dtype      batch   prefill    decode  peak MiB")
    if args.model.is_file():
        measure_file(args.model, "file", args)
        return
    for dtype in args.dtype:
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "model.gguf"
            convert(args.model, dtype, path)
            measure_file(path, dtype, args)


if __name__ == "__main__":
    main()

"""Tiny random models of each family with what transformers computes from them, for tests/lm.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13 transformers==5.23 numpy
    VENV/bin/python scripts/golden/tiny_models.py tests/golden/models [NAME …]

Without names it makes all. Each folder gets config.json, generation_config.json, the weights and golden.json: for every prompt
64 greedy tokens (end tokens do not end them), and the logits at some positions of prompt and greedy
tokens together. All is computed in float32 with eager attention, without a cache; one model keeps
its weights in bfloat16, and once more in shards. Weights, norms and biases are random and large, so
that every part of a network shows in its logits; prompts are random too, those left out for which a
greedy choice is close.
"""

import json
import pathlib
import shutil
import sys

import numpy
import torch
import transformers

COMMAND = "python scripts/golden/tiny_models.py tests/golden/models"
PROMPT_LENGTHS = [3, 17, 40, 5, 26]
GREEDY_TOKENS = 64
LEAST_GAP = 0.01  # between the two highest logits, at every greedy choice
LEAST_DISTINCT = 10  # tokens among the greedy ones of a prompt
SIZES = dict(vocab_size=64, hidden_size=32, intermediate_size=40, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
             bos_token_id=1, eos_token_id=2, pad_token_id=None)
LLAMA3_ROPE = dict(rope_type="llama3", rope_theta=5000.0, factor=8.0, low_freq_factor=1.0,
                   high_freq_factor=4.0, original_max_position_embeddings=64)


def default_rope(theta):
    return dict(rope_type="default", rope_theta=theta)


# name -> (family, settings, settings of a network that has to differ: what the model is there for)
MODELS = {
    "llama": ("Llama", dict(rope_parameters=LLAMA3_ROPE, tie_word_embeddings=True,
                            eos_token_id=[2, 5]),
              dict(rope_parameters=default_rope(5000.0))),
    "llama_bias": ("Llama", dict(rope_parameters=default_rope(10000.0), num_key_value_heads=4,
                                 attention_bias=True, mlp_bias=True, rms_norm_eps=1e-5),
                   dict(attention_bias=False, mlp_bias=False)),
    "llama_bfloat16": ("Llama", dict(rope_parameters=default_rope(500.0), dtype="bfloat16"),
                       dict(rope_parameters=default_rope(10000.0))),
    "mistral": ("Mistral", dict(rope_parameters=default_rope(1000.0), num_attention_heads=2,
                                num_key_value_heads=1, head_dim=12, sliding_window=12),
                dict(sliding_window=None)),
    "qwen2": ("Qwen2", dict(rope_parameters=default_rope(1000.0)),
              dict(rope_parameters=default_rope(10000.0))),
    "qwen3": ("Qwen3", dict(rope_parameters=default_rope(1000.0), head_dim=12,
                            tie_word_embeddings=True),
              dict(rope_parameters=default_rope(10000.0))),
    "gemma3": ("Gemma3", dict(rope_parameters=dict(full_attention=default_rope(1000.0),
                                                   sliding_attention=default_rope(50.0)),
                              head_dim=12, sliding_window=12, query_pre_attn_scalar=12,
                              tie_word_embeddings=False,
                              num_hidden_layers=3, layer_types=["sliding_attention",
                                                                "full_attention",
                                                                "sliding_attention"]),
               dict(layer_types=["full_attention"] * 3)),
    "smollm3": ("SmolLM3", dict(rope_parameters=default_rope(1000.0), no_rope_layers=[1, 0]),
                dict(no_rope_layers=[1, 1])),
    "phi3": ("Phi3", dict(rope_parameters=default_rope(1000.0), sliding_window=12),
             dict(sliding_window=None)),
    "granite": ("Granite", dict(rope_parameters=default_rope(1000.0), embedding_multiplier=3.0,
                                residual_multiplier=0.4, attention_multiplier=0.25,
                                logits_scaling=0.5),
                dict(residual_multiplier=1.0)),
    "olmo2": ("Olmo2", dict(rope_parameters=default_rope(1000.0)),
              dict(rope_parameters=default_rope(10000.0))),
    "qwen3_moe": ("Qwen3Moe", dict(rope_parameters=default_rope(1000.0), head_dim=12, num_experts=5,
                                   num_experts_per_tok=2, moe_intermediate_size=24,
                                   norm_topk_prob=False),
                  dict(norm_topk_prob=True)),
    "mixtral": ("Mixtral", dict(rope_parameters=default_rope(1000.0), num_local_experts=4,
                                num_experts_per_tok=2),
                dict(num_experts_per_tok=1)),
}
CLASSES = {"Gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM")}


def make(family, settings):
    config_class, model_class = CLASSES.get(family, (family + "Config", family + "ForCausalLM"))
    config = getattr(transformers, config_class)(**(SIZES | settings))
    config._attn_implementation = "eager"
    return getattr(transformers, model_class)(config).float().eval()


def random_weight(rng, name, shape, gemma):
    values = rng.standard_normal(shape)
    if "norm" in name:
        # Gemma's multiply by 1 + weight; those behind a sublayer must outweigh its large embeddings.
        return (2 * ("post_" in name) if gemma else 1) + 0.3 * values
    if name.endswith("bias"):
        return 0.5 * values
    if "embed" in name:
        return 0.5 * values  # small beside what the layers add, or tied ones repeat a token
    return values * (4 if "lm_head" in name else 1.5) / numpy.sqrt(shape[-1])


def fill(model, dtype):
    """Random weights, of which `dtype` keeps every bit."""
    with torch.no_grad():
        for i, (name, weight) in enumerate(sorted(model.named_parameters())):
            gemma = model.config.model_type.startswith("gemma")
            values = random_weight(numpy.random.default_rng([1, i]), name, tuple(weight.shape), gemma)
            weight.copy_(torch.from_numpy(values).to(dtype))


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0]


def follow(model, prompt):
    """The golden of a prompt, and the smallest gap among its greedy choices."""
    tokens = list(prompt)
    gap = float("inf")
    for _ in range(GREEDY_TOKENS):
        best = torch.topk(logits_of(model, tokens)[-1], 2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        tokens.append(int(best.indices[0]))
    logits = logits_of(model, tokens)
    positions = sorted({0, len(prompt) // 2, len(prompt) - 1, len(tokens) - 1})
    return dict(prompt=prompt, greedy=tokens[len(prompt):],
                logits=[dict(position=p, values=[float(f"{x:.6g}") for x in logits[p].tolist()])
                        for p in positions]), gap


def cases_of(model):
    """A case of each length: the first random prompt without a close or monotonous choice."""
    rng = numpy.random.default_rng(0)
    cases = []
    for length in PROMPT_LENGTHS:
        gap, case = 0, dict(greedy=[])
        while gap < LEAST_GAP or len(set(case["greedy"])) < LEAST_DISTINCT:
            case, gap = follow(model, rng.integers(0, SIZES["vocab_size"], length).tolist())
        cases.append(case)
    return cases


def check_settings_matter(model, family, settings, others):
    """A network with the other settings and the same weights has other logits at the end."""
    other = make(family, settings | others)
    other.load_state_dict({k: v for k, v in model.state_dict().items() if k in other.state_dict()})
    tokens = list(range(60))
    assert (logits_of(model, tokens)[-1] - logits_of(other, tokens)[-1]).abs().max() > 0.1


def check_generate(model, cases):
    """transformers' own greedy search, with its cache, says the same."""
    end, model.generation_config.eos_token_id = model.generation_config.eos_token_id, None
    for case in cases:
        prompt = torch.tensor([case["prompt"]])
        tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                                max_new_tokens=GREEDY_TOKENS)
        assert tokens[0, len(case["prompt"]):].tolist() == case["greedy"]
    model.generation_config.eos_token_id = end


def write_golden(path, cases):
    def line(case):
        return "  " + json.dumps(case, separators=(",", ":"))
    path.write_text(f'{{"command": "{COMMAND}",\n "transformers": "{transformers.__version__}", '
                    f'"torch": "{torch.__version__}",\n "cases": [\n'
                    + ",\n".join(map(line, cases)) + "\n]}\n")


def main():
    root = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    for name in sys.argv[2:] or MODELS:
        family, settings, others = MODELS[name]
        dtype = getattr(torch, settings.pop("dtype", "float32"))
        model = make(family, settings)
        fill(model, dtype)
        cases = cases_of(model)
        check_settings_matter(model, family, settings, others)
        check_generate(model, cases)
        shutil.rmtree(root / name, ignore_errors=True)
        model.to(dtype).save_pretrained(root / name)
        write_golden(root / name / "golden.json", cases)
        if dtype == torch.bfloat16:
            sharded = root / (name + "_sharded")
            shutil.rmtree(sharded, ignore_errors=True)
            model.save_pretrained(sharded, max_shard_size=16000)
            shutil.copy(root / name / "golden.json", sharded)
        print(name, file=sys.stderr)


main()

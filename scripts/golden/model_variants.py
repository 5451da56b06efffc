"""Logits, loss and gradients of the tiny models with other rotary scalings and windows, for tests/lm and
tests/training.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13 transformers==5.24 numpy
    VENV/bin/python scripts/golden/model_variants.py tests/golden/models tests/golden/model_variants.json

Each variant is the weights of a model with changed fields of its config.json, most in the spelling of
transformers 5, some in that of 4. Of each: random tokens, for which transformers (float32, eager attention,
no cache) gives the logits at some positions, the mean of -ln p of all tokens but the first, and the
norms of its gradients. "context": the positions for which the network has its frequencies, where these
depend on it; the present length in transformers.
"""

import copy
import json
import pathlib
import sys

import numpy
import torch
import transformers

COMMAND = ("python scripts/golden/model_variants.py tests/golden/models "
           "tests/golden/model_variants.json")


def rope(kind, theta=1000.0, **others):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=theta, **others))


LONG = dict(short_factor=[1.0, 1.25, 1.5, 2.0], long_factor=[1.0, 2.0, 5.0, 9.0])
# name -> (model, changes, tokens, context or 0)
VARIANTS = {
    "linear": ("llama", rope("linear", factor=4.0), 100, 0),
    "linear_old": ("llama", dict(rope_parameters=None, rope_theta=1000.0,
                                 rope_scaling=dict(type="linear", factor=4.0)), 40, 0),
    "dynamic_short": ("llama", dict(max_position_embeddings=32) | rope("dynamic", factor=4.0), 30, 0),
    "dynamic_long": ("llama", dict(max_position_embeddings=32) | rope("dynamic", factor=4.0), 100,
                     100),
    "yarn": ("llama", rope("yarn", factor=4.0, original_max_position_embeddings=32), 120, 0),
    "yarn_untruncated": ("qwen3", rope("yarn", factor=8.0, original_max_position_embeddings=16,
                                       beta_fast=4.0, beta_slow=0.5, truncate=False), 120, 0),
    "yarn_scales": ("qwen2", rope("yarn", factor=4.0, original_max_position_embeddings=32, mscale=0.5,
                                  mscale_all_dim=0.9), 60, 0),
    "yarn_attention": ("llama", rope("yarn", factor=4.0, original_max_position_embeddings=32,
                                     attention_factor=0.8), 60, 0),
    "longrope_short": ("phi3", dict(original_max_position_embeddings=64) |
                       rope("longrope", original_max_position_embeddings=64, **LONG), 60, 64),
    "longrope_long": ("phi3", dict(original_max_position_embeddings=64) |
                      rope("longrope", original_max_position_embeddings=64, **LONG), 120, 256),
    "window_from": ("qwen2", dict(use_sliding_window=True, sliding_window=12, max_window_layers=1,
                                  layer_types=None), 60, 0),
    "window_listed": ("qwen3", dict(use_sliding_window=True, sliding_window=12,
                                    layer_types=["sliding_attention", "full_attention"]), 60, 0),
}


def load(folder, changes):
    """The model with the changed configuration; null leaves a field out."""
    config = json.loads((folder / "config.json").read_text())
    config = {k: v for k, v in (config | changes).items() if v is not None or k not in changes}
    made = transformers.AutoConfig.for_model(**copy.deepcopy(config))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, config=made, dtype=torch.float32, attn_implementation="eager")
    return model.eval(), config


def main():
    models, out = map(pathlib.Path, sys.argv[1:3])
    torch.set_num_threads(1)
    variants = {}
    for name, (folder, changes, length, context) in VARIANTS.items():
        model, config = load(models / folder, changes)
        tokens = numpy.random.default_rng(9).integers(0, 64, length).tolist()
        logits = model(torch.tensor([tokens]), use_cache=False).logits[0]
        loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(tokens)[1:])
        loss.backward()
        with torch.no_grad():
            plain = load(models / folder, {})[0](torch.tensor([tokens]), use_cache=False).logits[0]
        apart = float((plain - logits).abs().max())
        print(name, apart, float(loss), file=sys.stderr)
        assert apart > 0.1
        positions = [length // 3, length - 1]
        variants[name] = dict(
            model=folder, config=config, context=context, tokens=tokens,
            logits=[dict(position=p, values=[float(f"{x:.6g}") for x in logits[p].tolist()])
                    for p in positions],
            loss=float(loss.detach()),
            gradients={n: float(f"{p.grad.double().norm():.6g}") for n, p in model.named_parameters()})
    golden = dict(command=COMMAND, transformers=transformers.__version__, torch=torch.__version__)
    lines = [f'"{name}":' + json.dumps(v, separators=(",", ":")) for name, v in variants.items()]
    out.write_text(json.dumps(golden)[:-1] + ',\n"variants":{\n' + ",\n".join(lines) + "\n}}\n")


main()

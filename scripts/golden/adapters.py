"""Adapters that PEFT makes of the tiny models, and the logits of the models with them merged, for tests/lm.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13 transformers==5.24 peft==0.21.2 numpy
    VENV/bin/python scripts/golden/adapters.py tests/golden/models tests/golden/adapters

A folder each, of the model of its name, whose base lies beside it as `../../models/NAME`, with
golden.json: random tokens and the logits of all positions, in float32 with eager attention. The
values of the adapters are large enough to show. Phi-3's matrices are fused; Qwen 3's adapter has
rslora and one rank more in a layer (rank_pattern).
"""

import json
import pathlib
import shutil
import sys

import numpy
import peft
import torch
import transformers

COMMAND = "python scripts/golden/adapters.py tests/golden/models tests/golden/adapters"
ADAPTERS = {
    "qwen3": dict(r=2, lora_alpha=3, use_rslora=True, rank_pattern={"layers.1.self_attn.v_proj": 3},
                  target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                                  "down_proj"]),
    "phi3": dict(r=2, lora_alpha=3, target_modules=["qkv_proj", "gate_up_proj", "down_proj"]),
}


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0]


def main():
    models, out = map(pathlib.Path, sys.argv[1:3])
    torch.set_num_threads(1)
    for name, settings in ADAPTERS.items():
        base = transformers.AutoModelForCausalLM.from_pretrained(
            models / name, dtype=torch.float32, attn_implementation="eager").eval()
        tokens = numpy.random.default_rng(5).integers(0, base.config.vocab_size, 12).tolist()
        before = logits_of(base, tokens)
        model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
        with torch.no_grad():
            for i, (weight, p) in enumerate(sorted(model.named_parameters())):
                if "lora_" in weight:
                    values = numpy.random.default_rng([3, i]).standard_normal(tuple(p.shape))
                    p.copy_(torch.from_numpy(values * (0.3 if "lora_B" in weight else 0.2)))
        shutil.rmtree(out / name, ignore_errors=True)
        model.save_pretrained(out / name)
        (out / name / "README.md").unlink(missing_ok=True)
        path = out / name / "adapter_config.json"
        config = json.loads(path.read_text())
        config["base_model_name_or_path"] = f"../../models/{name}"
        path.write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        logits = logits_of(model.merge_and_unload(), tokens)
        assert (logits - before).abs().max() > 0.3
        golden = dict(command=COMMAND, peft=peft.__version__, transformers=transformers.__version__,
                      torch=torch.__version__, tokens=tokens,
                      logits=[[float(f"{x:.6g}") for x in row] for row in logits.tolist()])
        (out / name / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


main()

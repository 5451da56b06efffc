"""Makes tests/golden/rl/grpo_losses.json with TRL's own loss of GRPO.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 transformers==5.24.0 trl==1.16.0
    VENV/bin/python scripts/golden/grpo_losses.py tests/golden/rl/grpo_losses.json

GRPOTrainer._compute_loss is called on an object that has only the fields that it reads; the model's
log-probabilities are given. All in float64. One file has the inputs (responses of 2, 5 and 3 tokens),
and for each case TRL's loss and its derivatives by the log-probabilities of the tokens.
"""

import json
import sys
from unittest.mock import MagicMock

import torch
from trl.trainer.grpo_trainer import GRPOTrainer

LENGTHS = [2, 5, 3]
ADVANTAGES = [1.25, -0.5, 0.75]
LIMIT = 8  # tokens of a response
CASES = [
    {"loss": "sequence", "trl": "grpo", "high": 0.2, "kl": 0.0},
    {"loss": "sequence", "trl": "grpo", "high": 0.28, "kl": 0.04},
    {"loss": "token", "trl": "dapo", "high": 0.28, "kl": 0.04},
    {"loss": "constant", "trl": "dr_grpo", "high": 0.28, "kl": 0.04},
]


def values(a, b, scale):
    k = torch.arange(len(LENGTHS) * max(LENGTHS), dtype=torch.float64)
    return (-1.5 + scale * torch.sin(a * k + b)).reshape(len(LENGTHS), max(LENGTHS))


def main():
    now, old, start = values(0.7, 0.2, 0.5), values(0.9, 3.9, 0.3), values(0.4, 0.9, 0.6)
    mask = torch.tensor([[float(t < n) for t in range(max(LENGTHS))] for n in LENGTHS],
                        dtype=torch.float64)
    rows = lambda t: [t[i, :n].tolist() for i, n in enumerate(LENGTHS)]
    out = {"now": rows(now), "old": rows(old), "start": rows(start), "advantages": ADVANTAGES,
           "limit": LIMIT, "cases": []}
    ids = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
    for case in CASES:
        logprobs = now.clone().requires_grad_()
        trainer = MagicMock()
        trainer._get_per_token_logps_and_entropies.return_value = (logprobs, torch.zeros_like(now), None)
        trainer.top_entropy_quantile = 1.0
        trainer.off_policy_mask_threshold = None
        trainer.importance_sampling_level = "token"
        trainer.use_vllm = False
        trainer._entropy_bonus_enabled = False
        trainer.aux_loss_enabled = False
        trainer.model.training = False
        trainer.args.delta = None
        trainer.args.use_bias_correction_kl = False
        trainer.accelerator.num_processes = 1
        trainer.beta, trainer.loss_type = case["kl"], case["trl"]
        trainer.epsilon_low, trainer.epsilon_high = 0.2, case["high"]
        trainer.max_completion_length = LIMIT
        inputs = {"prompt_ids": ids[:, :1], "prompt_mask": ids[:, :1] + 1, "completion_ids": ids,
                  "completion_mask": mask, "advantages": torch.tensor(ADVANTAGES, dtype=torch.float64),
                  "old_per_token_logps": old, "ref_per_token_logps": start,
                  "num_items_in_batch": mask.sum()}
        trainer.accelerator.gather = lambda t: t
        loss = GRPOTrainer._compute_loss(trainer, None, inputs)
        loss.backward()
        out["cases"].append({**case, "value": loss.item(), "derivatives": rows(logprobs.grad)})
    with open(sys.argv[1], "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()

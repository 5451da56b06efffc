#!/usr/bin/env python3
"""Compares the log-probabilities of an evaluation's greedy turns with those of transformers.

    agent_eval --task textcraft --model_name bundled --min 0 --max 3 --max_steps 6 --dtype float32 \\
      --output_dir same
    python3 -m venv VENV && VENV/bin/pip install torch transformers
    VENV/bin/python scripts/bundled_in_transformers.py models/bundled same/textcraft/bundled_local

Prints the number of turns, how many of them transformers decodes greedily to the same tokens, and the
largest difference of a log-probability.
"""
import glob, json, sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, episodes = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
worst, tokens, turns, same = 0.0, 0, 0, 0
for path in sorted(glob.glob(episodes + "/search_results_*.json")):
    episode = json.load(open(path))
    answers = [i for i, m in enumerate(episode["state"]) if m["role"] == "assistant"][1:]
    for turn, at in zip(episode["turns"], answers):
        prompt = tokenizer.apply_chat_template(episode["state"][:at], tokenize=False, add_generation_prompt=True)
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        out = turn["token_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([ids + out])).logits[0, len(ids) - 1 : -1]
        logprobs = logits.log_softmax(-1)
        theirs = logprobs[torch.arange(len(out)), torch.tensor(out)]
        worst = max(worst, (theirs - torch.tensor(turn["logprobs"])).abs().max().item())
        same += int((logits.argmax(-1) == torch.tensor(out)).all())
        tokens += len(out); turns += 1
print(f"{turns} turns, {tokens} tokens, {same} turns equal greedily, largest difference of a log-probability {worst:.2e}")

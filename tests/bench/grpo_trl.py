#!/usr/bin/env python3
"""A round of GRPO in TRL on the turns of TextCraft, beside a round of agent_rl.

    agent_rl --config configs/rl/grpo_online.toml --model_dir bundled --iterations 1 --eval_every 0 \\
      --eval_episodes 0 --output_dir round
    agent_eval --task textcraft --model_name bundled --split train --max 64 --max_steps 20 \\
      --temperature 1 --max_new_tokens 160 --output_dir prompts
    python3 -m venv VENV && VENV/bin/pip install torch trl
    VENV/bin/python tests/bench/grpo_trl.py models/bundled prompts/textcraft/bundled_local --turns 64 --batch 8

TRL answers each of TURNS / 8 prompts eight times and takes four optimiser steps, each on a quarter of the
answers, with the prompts, limits and loss of configs/rl/grpo_online.toml, but without the environment. Prints
the seconds of each stage, and turns and tokens per second. BATCH is how many rows TRL computes at once when it
learns: TURNS has to be a multiple of four times as many, and of 8. Take the fastest.
"""
import argparse, glob, json, tempfile, time
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("episodes")
parser.add_argument("--turns", type=int, default=64)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--bfloat16", action="store_true", help="autocast to bfloat16")
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()
if options.turns % 8 or options.turns % (4 * options.batch):
    parser.error(f"--turns {options.turns} is no multiple of 8 and of four times --batch {options.batch}")
torch.set_num_threads(options.threads)

prompts = []
for path in sorted(glob.glob(options.episodes + "/search_results_*.json")):
    state = json.load(open(path))["state"]
    answers = [i for i, message in enumerate(state) if message["role"] == "assistant"][1:]
    prompts += [[{"role": m["role"], "content": m["content"]} for m in state[:at]] for at in answers]
torch.manual_seed(0)
count = options.turns // 8
drawn = [prompts[i % len(prompts)] for i in torch.randperm(max(len(prompts), count))[:count].tolist()]

tokenizer = AutoTokenizer.from_pretrained(options.model)
model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
seconds = {"playing": 0.0, "learning": 0.0}
tokens = {"prompt": 0, "answer": 0}


def parity_of_length(completions, completion_ids, **_):
    """A reward that differs within a group and costs nothing."""
    tokens["answer"] += sum(len(ids) for ids in completion_ids)
    return [float(len(ids) % 2) for ids in completion_ids]


class Timed(GRPOTrainer):
    def _generate_and_score_completions(self, inputs):
        begin = time.perf_counter()
        result = super()._generate_and_score_completions(inputs)
        seconds["playing"] += time.perf_counter() - begin
        tokens["prompt"] += int(result["prompt_mask"].sum())
        return result


rows = count * 8
batch = options.batch
accumulate = rows // batch // 4
config = GRPOConfig(
    output_dir=tempfile.mkdtemp(), use_cpu=True, bf16=options.bfloat16, gradient_checkpointing=False, report_to=[],
    save_strategy="no", disable_tqdm=True, per_device_train_batch_size=batch,
    gradient_accumulation_steps=accumulate, steps_per_generation=4 * accumulate, num_generations=8,
    num_iterations=1, max_steps=4, max_completion_length=160, temperature=1.0, beta=0.0, epsilon=0.2,
    epsilon_high=0.28, loss_type="dapo", learning_rate=3e-5, lr_scheduler_type="constant", logging_steps=1)
trainer = Timed(model=model, processing_class=tokenizer, reward_funcs=parity_of_length, args=config,
                train_dataset=Dataset.from_dict({"prompt": drawn}))
begin = time.perf_counter()
trainer.train()
whole = time.perf_counter() - begin
seconds["learning"] = whole - seconds["playing"]
print(json.dumps({
    "turns": rows, "prompt_tokens": tokens["prompt"], "answer_tokens": tokens["answer"],
    "playing_s": round(seconds["playing"], 1), "learning_s": round(seconds["learning"], 1),
    "turns_per_s": round(rows / whole, 2),
    "answer_tokens_per_s_playing": round(tokens["answer"] / seconds["playing"], 1),
    "tokens_per_s_learning": round((tokens["prompt"] + tokens["answer"]) / seconds["learning"], 1)}))

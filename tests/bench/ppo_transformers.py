#!/usr/bin/env python3
"""The speed of PPO's update step on listed actions in transformers, as GLAM's library takes it: one
padded row for each pair of state and action.

    ppo_bench --model_dir DIR --write steps.json && python3 tests/bench/ppo_transformers.py DIR steps.json

The same states, actions and minibatches as ppo_bench: scores are sums of the actions' log-probabilities,
the value comes from the hidden state of the last token of the state. Adam in float32. Needs torch and
transformers.
"""

import argparse
import glob
import json
import resource
import time

import torch
import transformers


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def padded(prompts, actions):
    rows = [p + a for p in prompts for a in actions]
    longest = max(len(r) for r in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return ids, mask


def scores_and_values(model, head, prompts, actions):
    ids, mask = padded(prompts, actions)
    out = model(ids, attention_mask=mask, use_cache=False, output_hidden_states=True)
    rows, places, tokens = [], [], []  # of the actions' tokens
    for i, row in enumerate(p + a for p in prompts for a in actions):
        length = len(actions[i % len(actions)])
        rows += [i] * length
        places += range(len(row) - length - 1, len(row) - 1)
        tokens += row[-length:]
    rows = torch.tensor(rows)
    log_probs = out.logits[rows, torch.tensor(places)].log_softmax(-1)
    of = log_probs.gather(1, torch.tensor(tokens)[:, None]).squeeze(1)
    scores = torch.zeros(len(ids)).index_add(0, rows, of)
    last = torch.tensor([len(p) - 1 for p in prompts])
    states = out.hidden_states[-1][torch.arange(len(prompts)) * len(actions), last]
    return scores.view(len(prompts), -1), head(states).squeeze(1)


def ppo_loss(scores, values, old_log_probs, taken, advantages, returns):
    log_probs = scores.log_softmax(1)
    chosen = log_probs.gather(1, taken[:, None]).squeeze(1)
    ratio = (chosen - old_log_probs).exp()
    policy = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    entropy = -(log_probs.exp() * log_probs).sum(1).mean()
    return policy - 0.01 * entropy + 0.5 * (values - returns).square().mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("steps", help="written by ppo_bench --write")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--most", type=int, default=3, help="steps to take")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    with open(args.steps) as file:
        data = json.load(file)
    kind = transformers.AutoModelForCausalLM
    if glob.glob(f"{args.model}/*.safetensors"):
        model = kind.from_pretrained(args.model, dtype=torch.float32)
    else:  # only a shape: random weights cost the same
        model = kind.from_config(transformers.AutoConfig.from_pretrained(args.model),
                                 dtype=torch.float32)
    width, hidden = model.config.hidden_size, data["value_width"]
    head = torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.Sigmoid(),
                               torch.nn.Linear(hidden, hidden), torch.nn.Sigmoid(),
                               torch.nn.Linear(hidden, 1))
    parameters = [*model.parameters(), *head.parameters()]
    adam = torch.optim.Adam(parameters, lr=1e-6)
    count, fastest, least_cpu = data["batch"], 1e9, 1e9
    for begin in range(0, len(data["prompts"]) - count + 1, count)[: args.most]:
        prompts = data["prompts"][begin : begin + count]
        taken = torch.randint(len(data["actions"]), (count,))
        cpu, start = cpu_seconds(), time.perf_counter()
        scores, values = scores_and_values(model, head, prompts, data["actions"])
        old = scores.detach().log_softmax(1).gather(1, taken[:, None]).squeeze(1)
        ppo_loss(scores, values, old, taken, torch.randn(count), torch.randn(count)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        adam.step()
        adam.zero_grad()
        fastest = min(fastest, time.perf_counter() - start)
        least_cpu = min(least_cpu, cpu_seconds() - cpu)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: {count / fastest:.1f} "
          f"transitions/s, {count / least_cpu:.1f} per second of CPU time")


if __name__ == "__main__":
    main()

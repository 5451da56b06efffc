#!/usr/bin/env python3
"""The speed of transformers with AdamW, on the model and the rows of train_bench.

    train_bench --write_model DIR && python3 tests/bench/train_transformers.py DIR --threads 2
    python3 tests/bench/train_transformers.py DIR --data ROWS.tokens.jsonl --batch_rows 16

Dense rows: every token is trained. Rows of a file (path_collect --format tokens): once padded, sorted by
length within a step, and once packed into sequences of the greatest length, as TRL's "wrapped"
packing does (attention crosses the rows there, which costs transformers nothing). The fastest step counts,
as in train_bench, and for the tokens per second of CPU time the step that took the least of it; the unit
is tokens of rows, without padding. bfloat16: weights and activations, as is usual. Needs torch and
transformers.
"""

import argparse
import json
import random
import resource
import time

import torch
import transformers


def dense_steps(args, vocab_size, length):
    """Steps of one micro-batch: `args.tokens` random tokens in rows of `length`, all trained."""
    ids = torch.randint(vocab_size, (max(1, args.tokens // length), length))
    return [([(ids, ids, None)], ids.numel())] * args.steps


def row_steps(args, packed):
    """Steps of `args.batch_rows` rows drawn from the file: (micro-batches, tokens of the rows)."""
    with open(args.data) as file:
        rows = [json.loads(line) for line in file]
    random.Random(0).shuffle(rows)
    steps = []
    for step in range(args.steps):
        chosen = rows[step * args.batch_rows:(step + 1) * args.batch_rows]
        pairs = [(row["ids"], [i if on else -100 for i, on in zip(row["ids"], row["loss"])])
                 for row in chosen]
        steps.append((micro_batches(args, pack(args, pairs) if packed else pairs),
                      sum(len(ids) for ids, _ in pairs)))
    return steps


def pack(args, pairs):
    """All rows one after the other, cut into sequences of `args.max_length` tokens."""
    ids = [i for row, _ in pairs for i in row]
    labels = [i for _, row in pairs for i in row]
    cuts = range(0, len(ids), args.max_length)
    return [(ids[i:i + args.max_length], labels[i:i + args.max_length]) for i in cuts]


def micro_batches(args, pairs):
    """Rows sorted by length, padded, at most `args.batch_tokens` padded tokens together."""
    batches, rows = [], []
    for pair in sorted(pairs, key=lambda p: len(p[0])):
        if rows and (len(rows) + 1) * len(pair[0]) > args.batch_tokens:
            batches.append(rows)
            rows = []
        rows.append(pair)
    batches.append(rows)
    return [pad(rows) for rows in batches]


def pad(rows):
    length = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [0] * (length - len(ids)) for ids, _ in rows])
    labels = torch.tensor([row + [-100] * (length - len(row)) for _, row in rows])
    mask = torch.tensor([[1] * len(ids) + [0] * (length - len(ids)) for ids, _ in rows])
    return ids, labels, None if mask.all() else mask


def measure(args, dtype, what, steps):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        args.model, dtype=getattr(torch, dtype)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    speeds, cpu_speeds = [], []
    for batches, tokens in steps:
        cpu, start = time.process_time(), time.perf_counter()
        for ids, labels, mask in batches:
            model(ids, labels=labels, attention_mask=mask, use_cache=False).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        speeds.append((tokens, time.perf_counter() - start))
        cpu_speeds.append(tokens / (time.process_time() - cpu))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    later = speeds[1:] or speeds  # the first one warms up
    mean = sum(n for n, _ in later) / sum(s for _, s in later)
    print(f"{dtype:<9} {what:<20} {max(n / s for n, s in speeds):>8.0f} {mean:>8.0f} "
          f"{max(cpu_speeds):>8.0f} {peak:>9.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder written by train_bench --write_model")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--length", nargs="+", type=int, default=[512, 2048])
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", help="token rows of path_collect")
    parser.add_argument("--batch_rows", type=int, default=64)
    parser.add_argument("--batch_tokens", type=int, default=16384)
    parser.add_argument("--max_length", type=int, default=2048)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    vocab_size = transformers.AutoConfig.from_pretrained(args.model).vocab_size
    print(f"transformers {transformers.__version__}, torch {torch.__version__}\n"
          "dtype     rows                  fastest     mean    /CPU s  peak GiB")
    for dtype in args.dtype:
        if args.data:
            measure(args, dtype, "padded", row_steps(args, packed=False))
            measure(args, dtype, "packed", row_steps(args, packed=True))
        else:
            for length in args.length:
                measure(args, dtype, f"dense {length}", dense_steps(args, vocab_size, length))


if __name__ == "__main__":
    main()

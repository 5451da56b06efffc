#!/usr/bin/env python3
"""The speed of transformers with AdamW on train_bench's model and dense rows.

    train_bench --write_model DIR && python3 tests/bench/train_transformers.py DIR --threads 2

Every token is trained; the fastest step counts, as there. bfloat16: weights and activations, as is
usual. Needs torch and transformers.
"""

import argparse
import resource
import time

import torch
import transformers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder written by train_bench --write_model")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--length", nargs="+", type=int, default=[512, 2048])
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}\n"
          "dtype     rows                  fastest     mean    /CPU s  peak GiB")
    for dtype in args.dtype:
        for length in args.length:
            model = transformers.AutoModelForCausalLM.from_pretrained(
                args.model, dtype=getattr(torch, dtype)).train()
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
            rows = max(1, args.tokens // length)
            ids = torch.randint(model.config.vocab_size, (rows, length))
            times = []
            cpu = time.process_time()
            for _ in range(args.steps):
                start = time.perf_counter()
                model(ids, labels=ids, use_cache=False).loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                times.append(time.perf_counter() - start)
            cpu = time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
            mean = sum(times[1:]) / max(1, len(times) - 1)
            print(f"{dtype:<9} {f'dense {length}':<20} {ids.numel() / min(times):>8.0f} "
                  f"{ids.numel() / mean:>8.0f} {ids.numel() * args.steps / cpu:>8.0f} {peak:>9.2f}", flush=True)


if __name__ == "__main__":
    main()

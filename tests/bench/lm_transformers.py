#!/usr/bin/env python3
"""The speed of transformers on lm_bench's model: prompts (prefill) and generation (decode).

    lm_bench --write_model DIR && python3 tests/bench/lm_transformers.py DIR --threads 2

Prints tokens per second in lm_bench's format. The fastest of --rounds counts, as there. Needs torch and
transformers. Decoding is a loop over forward with its cache, which is what generate() runs without its
checks; --generate measures generate() itself.
"""

import argparse
import time

import torch
import transformers


def measure(model, batch, prompt, tokens, generate):
    ids = torch.randint(model.config.vocab_size, (batch, prompt),
                        generator=torch.Generator().manual_seed(3))
    start = time.perf_counter()
    output = model(ids, use_cache=True, logits_to_keep=1)
    prefill = time.perf_counter() - start
    if generate:
        start = time.perf_counter()
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens + 1,
                       min_new_tokens=tokens + 1, do_sample=False, pad_token_id=0)
        decode = time.perf_counter() - start - prefill
    else:
        start = time.perf_counter()
        for _ in range(tokens):
            token = output.logits[:, -1:].argmax(-1)
            output = model(token, past_key_values=output.past_key_values, use_cache=True)
        decode = time.perf_counter() - start
    return batch * prompt / prefill, batch * tokens / decode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder written by lm_bench --write_model")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--generate", action="store_true")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: prompt {args.prompt}, "
          f"{args.tokens} tokens, {args.threads} threads; tokens per second, the fastest of "
          f"{args.rounds}\n\ndtype      batch   prefill    decode")
    for dtype in args.dtype:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            args.model, dtype=getattr(torch, dtype)).eval()
        for batch in args.batch:
            with torch.inference_mode():
                runs = [measure(model, batch, args.prompt, args.tokens, args.generate)
                        for _ in range(args.rounds)]
            prefill, decode = (max(values) for values in zip(*runs))
            print(f"{dtype:<10} {batch:>5}  {prefill:>8.0f}  {decode:>8.0f}", flush=True)


if __name__ == "__main__":
    main()

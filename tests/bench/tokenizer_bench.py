"""What tokenizer_bench measures, with the tokenizers library: MB/s of encode, one thread.

TOKENIZERS_PARALLELISM=false python tests/bench/tokenizer_bench.py FOLDER TEXT_FILE
"""

import sys
import time

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
with open(sys.argv[2], encoding="utf-8", errors="replace", newline="") as file:
    lines = file.read().split("\n")
texts = ["\n".join(lines[i:i + 10]) + "\n" for i in range(0, len(lines), 10)]
size = sum(len(text.encode()) for text in texts)
for name in ("first", "second"):
    begin = time.perf_counter()
    tokens = sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)
    print(f"{name:6} {size / 1e6 / (time.perf_counter() - begin):6.2f} MB/s  {tokens} tokens")

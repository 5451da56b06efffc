"""Draws of Python's `random`, for tests/common/python_random_test.cc.

python3 scripts/golden/python_random.py > tests/golden/python_random.json
"""

import hashlib
import json
import platform
import random


def brief(values):
    """A long list as its ends and a hash of all of it."""
    text = ",".join(map(str, values))
    return {"first": values[:5], "last": values[-5:],
            "sha256": hashlib.sha256(text.encode()).hexdigest()}


def shuffled(rng, size):
    values = list(range(size))
    rng.shuffle(values)
    return values


def draws(seed):
    """Calls on one generator, in order, each with what it gave: [name, arguments, result]."""
    rng = random.Random(seed)
    for _ in range(4):
        yield "random", [], rng.random()
    for bits in (0, 1, 5, 31, 32, 33, 53, 63, 64):
        yield "getrandbits", [bits], rng.getrandbits(bits)
    for n in (1, 2, 3, 10, 1000, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 + 1, 2**64 - 1):
        yield "below", [n], rng.randrange(n)
    for _ in range(40):
        yield "sample", [4, 2], rng.sample(range(4), 2)
    # The list of all is used up to n = 21, from k = 6 on up to 21 + 4 ** ceil(log(3 k, 4)).
    for n, k in ((0, 0), (1, 1), (21, 5), (22, 5), (22, 6), (85, 6), (86, 6), (277, 22), (278, 22),
                 (10, 10), (100000, 4)):
        yield "sample", [n, k], rng.sample(range(n), k)
    for n, k in ((1000, 300), (9000, 300)):
        yield "sample", [n, k], brief(rng.sample(range(n), k))
    for size in (0, 1, 10):
        yield "shuffle", [size], shuffled(rng, size)
    yield "shuffle", [1000], brief(shuffled(rng, 1000))
    yield "random", [], rng.random()


print('{"command": "python3 scripts/golden/python_random.py > tests/golden/python_random.json",')
print(f' "python": "{platform.python_version()}",')
print(' "seeds": [')
seeds = (0, 1, 233, 2**32 + 5, 2**64 - 1)
for seed in seeds:
    print(f'  {{"seed": {seed}, "draws": [')
    print(",\n".join("    " + json.dumps(draw) for draw in draws(seed)))
    print("  ]}" + ("," if seed != seeds[-1] else ""))
print("]}")

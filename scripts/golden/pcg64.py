"""Draws of numpy's Generator(PCG64(seed)), for tests/common/pcg64_test.cc.

python3 -m venv venv && venv/bin/pip install numpy
venv/bin/python scripts/golden/pcg64.py > tests/golden/rl/pcg64.json
"""

import json

import numpy as np

SEEDS = (0, 1, 100, 131, 1000000000, 5000000000)
RANGES = ((0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 8), (1, 7), (7, 15))
COUNT = 20


def stream(seed):
    return np.random.Generator(np.random.PCG64(seed))


def many(seed, draw):
    rng = stream(seed)
    return [draw(rng) for _ in range(COUNT)]


def mixed(seed):
    rng = stream(seed)
    draws = []
    while len(draws) < COUNT:
        for low, high in ((0, 6), (3, 4)):
            draws.append(["int", low, high, int(rng.integers(low, high))])
        draws.append(["double", float(rng.random())])
        draws.append(["int", 0, 8, int(rng.integers(0, 8))])
    return draws[:COUNT]


def golden(seed):
    values = {
        "words32": [int(w) for w in np.random.SeedSequence(seed).generate_state(8, np.uint32)],
        "u64": [int(v) for v in np.random.PCG64(seed).random_raw(COUNT)],
        # A range of 2^32 values takes 32-bit draws as they are.
        "u32": many(seed, lambda rng: int(rng.integers(0, 2**32))),
        "double": many(seed, lambda rng: float(rng.random())),
        "mixed": mixed(seed),
    }
    for low, high in RANGES:
        values[f"int_{low}_{high}"] = many(seed, lambda rng: int(rng.integers(low, high)))
    return values


print(json.dumps({
    "made_by": "scripts/golden/pcg64.py, numpy " + np.__version__,
    "seeds": {seed: golden(seed) for seed in SEEDS},
    # About half of the 32-bit draws are repeated in this range.
    "large": {seed: many(seed, lambda rng: int(rng.integers(0, 2**31 + 1))) for seed in SEEDS},
}))

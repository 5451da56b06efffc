#!/usr/bin/env python3
"""Makes tests/golden/quantised.json: blocks of every quantised type with their float32 values, and
float32 values with their blocks, by the package gguf.

    pip install gguf==0.19.0
    scripts/golden/quantised.py > tests/golden/quantised.json
"""

import json

import numpy
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize, quantize

TYPES = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
# Where a block has its float16 factors.
FACTORS = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2],
           "Q5_K": [0, 2], "Q6_K": [208]}


def main():
    random = numpy.random.default_rng(7)
    widened, quantised = {}, {}
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        size = GGML_QUANT_SIZES[kind][1]
        blocks = random.integers(0, 256, (3, size), dtype=numpy.uint8)
        for place in FACTORS[name]:
            factors = random.normal(0, 0.02, 3).astype(numpy.float16)
            blocks[:, place : place + 2] = factors.view(numpy.uint8).reshape(3, 2)
        values = dequantize(blocks, kind).astype(numpy.float32)
        widened[name] = {"blocks": blocks.tobytes().hex(), "values": values.tobytes().hex()}
    for name in ["Q8_0", "Q4_0"]:
        values = random.normal(0, 1, 128).astype(numpy.float32)
        values[:32] = 0
        values[64:96] = numpy.arange(32) - 8  # exact nibbles, and ties of bytes
        blocks = quantize(values, GGMLQuantizationType[name])
        quantised[name] = {"values": values.tobytes().hex(), "blocks": blocks.tobytes().hex()}
    print(json.dumps({"widened": widened, "quantised": quantised}, indent=1))


if __name__ == "__main__":
    main()

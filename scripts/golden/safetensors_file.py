"""A file by Python's safetensors, for tests/lm/weights/safetensors_test.cc.

    python3 -m venv VENV && VENV/bin/pip install safetensors==0.8.0 torch==2.13 numpy
    VENV/bin/python scripts/golden/safetensors_file.py tests/golden/safetensors_file.json

The bytes in hexadecimal, and the tensors that Python reads from them: every type, a scalar, an
empty tensor, names that JSON has to escape, and a length of the header that needs padding.
"""

import json
import sys

import safetensors.torch
import torch

tensors = {
    "a.weight": torch.tensor([[0.0, 1.0, -2.5], [3e38, -0.0, float("inf")]], dtype=torch.float32),
    "b.half": torch.tensor([1.0, -2.0, 0.333], dtype=torch.float16),
    "c.brain": torch.tensor([[[1.0], [1e30]]], dtype=torch.bfloat16),
    "d.scalar": torch.tensor(7.0, dtype=torch.float32),
    "e.empty": torch.zeros((0, 3), dtype=torch.float32),
    'f "quoted" \\ ä': torch.tensor([5.0], dtype=torch.bfloat16),
}
file = safetensors.torch.save(tensors, metadata={"format": "pt"})
read = safetensors.torch.load(file)
assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())


def row(name, tensor):
    kind = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}[tensor.dtype]
    return dict(name=name, dtype=kind, shape=list(tensor.shape),
                hex=bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()).hex())


with open(sys.argv[1], "w", encoding="utf-8") as out:
    rows = ",\n  ".join(json.dumps(row(*item), ensure_ascii=False) for item in sorted(read.items()))
    out.write(f'{{"command": "python scripts/golden/safetensors_file.py '
              f'tests/golden/safetensors_file.json",\n'
              f' "safetensors": "{safetensors.__version__}",\n "hex": "{file.hex()}",\n "tensors": [\n  {rows}\n]}}\n')

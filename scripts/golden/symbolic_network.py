"""What the network of GLAM's symbolic baseline computes, for tests/training.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13 numpy
    VENV/bin/python scripts/golden/symbolic_network.py DIR tests/golden/rl/symbolic_network.json

The network is the original's own: DIR/babyai-text/babyai/babyai/model.py of
github.com/flowersteam/Grounding_LLMs_with_online_RL (at 31847fb), in float64. Its parameters get
our names (OURS). Value k of the n-th parameter in the order of their names is scale * sin(0.7 k +
n), where scale is 1 / sqrt(inputs) of a layer (norms: 0.1, and 1 is added to their weights). Two
steps of three agents, the second with the memory of the first, of which the second agent's is
cleared; then the gradients of a sum of all outputs by all parameters, and a step with the running
averages.
"""

import importlib.util
import json
import math
import os
import sys
import types

import torch

COMMAND = "python scripts/golden/symbolic_network.py DIR tests/golden/rl/symbolic_network.json"
WIDTH, WORDS, ACTIONS = 128, 100, 6

OURS = {
    "image_conv.0": "image.0", "image_conv.1": "image_norm.0", "image_conv.4": "image.1",
    "image_conv.5": "image_norm.1", "word_embedding": "embedding", "instr_rnn": "gru",
    "memory_rnn": "lstm", "actor.0": "actor.0", "actor.2": "actor.1", "critic.0": "critic.0",
    "critic.2": "critic.1",
}
for i in range(2):
    for there, here in [("conv1", "first"), ("bn1", "first_norm"), ("conv2", "second"),
                        ("bn2", "second_norm"), ("weight", "scale"), ("bias", "shift")]:
        OURS[f"FiLM_Controler_{i}.{there}"] = f"film.{i}.{here}"


class Symbolic(torch.nn.Module):
    """The original, called as our network is."""

    def __init__(self, folder):
        super().__init__()
        # What the file imports besides torch: a base class without code, and a table that only heads
        # which are not used need.
        base = types.ModuleType("babyai.rl")
        base.RecurrentACModel = type("RecurrentACModel", (), {})
        losses = types.ModuleType("babyai.rl.utils.supervised_losses")
        losses.required_heads = {}
        package = types.ModuleType("babyai")
        package.rl = base
        sys.modules.update({"babyai": package, "babyai.rl": base,
                            "babyai.rl.utils": types.ModuleType("babyai.rl.utils"),
                            "babyai.rl.utils.supervised_losses": losses})
        path = os.path.join(folder, "babyai-text", "babyai", "babyai", "model.py")
        spec = importlib.util.spec_from_file_location("babyai_model", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.original = module.ACModel({"instr": WORDS + 1}, types.SimpleNamespace(n=ACTIONS),
                                       use_instr=True, lang_model="gru", use_memory=True,
                                       arch="expert_filmcnn")
        self.original.actor.register_forward_hook(self.keep_scores)

    def keep_scores(self, _module, _inputs, output):
        self.scores = output  # the original hands on only their softmax

    def forward(self, images, words, memory):
        # The original gets images with the channels last.
        observation = types.SimpleNamespace(image=images.permute(0, 2, 3, 1), instr=words)
        out = self.original(observation, memory)
        return self.scores, out["value"], out["memory"]


def name_of(torch_name):
    """Our name of a parameter or a running average; nn.GRU calls its parameters weight_ih_l0, …"""
    layer, _, part = torch_name.removeprefix("original.").rpartition(".")
    return f"{OURS[layer]}.{part.replace('_l0', '')}"


def wave(shape, a, b, scale=1.0):
    k = torch.arange(math.prod(shape), dtype=torch.float64)
    return (scale * torch.sin(a * k + b)).reshape(shape)


def fill(network):
    named = {name_of(name): p for name, p in network.named_parameters()}
    for n, name in enumerate(sorted(named)):
        p = named[name]
        if "norm" in name:
            value = (1.0 if name.endswith("weight") else 0.0) + wave(p.shape, 0.7, n, 0.1)
        else:
            inputs = math.prod(p.shape[1:]) if p.dim() > 1 else WIDTH
            value = wave(p.shape, 0.7, n, 1 if name == "embedding.weight" else inputs ** -0.5)
        p.data.copy_(value)
    return named


def numbers(tensor):
    return [float(f"{x:.8g}") for x in tensor.detach().flatten().tolist()]


def main(folder, path):
    torch.set_default_dtype(torch.float64)
    network = Symbolic(folder)
    named = fill(network)
    images = [torch.round(4 + wave((3, 3, 7, 7), 0.37, step, 4)) for step in range(2)]
    words = torch.tensor([[3, 1, 4, 1, 5], [2, 7, 0, 0, 0], [3, 1, 4, 1, 5]])
    result = {"_about": {"made": COMMAND, "torch": torch.__version__}, "steps": []}
    memory = torch.zeros(3, 2 * WIDTH)
    total = 0
    for image in images:
        scores, values, memory = network(image, words, memory)
        result["steps"].append({"scores": numbers(scores), "values": numbers(values),
                                "memory": numbers(memory[:, ::32])})
        total = total + (scores * wave(scores.shape, 0.5, 1)).sum() + (values * values).sum()
        memory = memory * torch.tensor([[1.0], [0.0], [1.0]])
    (total + memory.sum()).backward()
    result["gradient_norms"] = {n: float(f"{p.grad.norm():.8g}") for n, p in named.items()}
    result["statistics"] = {name_of(n): float(f"{b.norm():.8g}")
                            for n, b in network.named_buffers() if "running" in n}
    network.eval()
    scores, values, memory = network(images[0], words, torch.zeros(3, 2 * WIDTH))
    result["evaluation"] = {"scores": numbers(scores), "values": numbers(values),
                            "memory": numbers(memory[:, ::32])}
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

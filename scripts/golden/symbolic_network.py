"""What PyTorch computes with the network of GLAM's symbolic baseline, for tests/training.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13
    VENV/bin/python scripts/golden/symbolic_network.py tests/golden/rl/symbolic_network.json

The network is written here with torch.nn, in float64. Value k of the n-th parameter in the order
of their names is scale * sin(0.7 k + n), where scale is 1 / sqrt(inputs) of a layer (norms: 0.1,
and 1 is added to their weights). Two steps of three agents, the second with the memory of the
first, of which the second agent's is cleared; then the gradients of a sum of all outputs by all
parameters, and a step with the running averages.
"""

import json
import math
import sys

import torch
from torch import nn

COMMAND = "python scripts/golden/symbolic_network.py tests/golden/rl/symbolic_network.json"
WIDTH, WORDS, ACTIONS = 128, 100, 6


class Film(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.first_norm = nn.BatchNorm2d(WIDTH)
        self.second = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.scale = nn.Linear(WIDTH, WIDTH)
        self.shift = nn.Linear(WIDTH, WIDTH)
        self.second_norm = nn.BatchNorm2d(WIDTH)

    def forward(self, x, mission):
        x = self.second(torch.relu(self.first_norm(self.first(x))))
        x = x * self.scale(mission)[:, :, None, None] + self.shift(mission)[:, :, None, None]
        return torch.relu(self.second_norm(x))


class Symbolic(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.ModuleList([nn.Conv2d(3, WIDTH, 2, padding=1),
                                    nn.Conv2d(WIDTH, WIDTH, 3, padding=1)])
        self.image_norm = nn.ModuleList([nn.BatchNorm2d(WIDTH), nn.BatchNorm2d(WIDTH)])
        self.embedding = nn.Embedding(WORDS + 1, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.film = nn.ModuleList([Film(), Film()])
        self.lstm = nn.LSTMCell(WIDTH, WIDTH)
        self.actor = nn.ModuleList([nn.Linear(WIDTH, 64), nn.Linear(64, ACTIONS)])
        self.critic = nn.ModuleList([nn.Linear(WIDTH, 64), nn.Linear(64, 1)])

    def mission(self, words):
        """Each alone, without padding: the state after its last word."""
        return torch.cat([self.gru(self.embedding(row[row != 0])[None])[1][0] for row in words])

    def forward(self, images, words, memory):
        x = images
        for conv, norm in zip(self.image, self.image_norm):
            x = nn.functional.max_pool2d(torch.relu(norm(conv(x))), 2)
        mission = self.mission(words)
        for film in self.film:
            x = film(x, mission)
        x = torch.relu(nn.functional.max_pool2d(x, 2)).flatten(1)
        hidden, cell = self.lstm(x, memory.split(WIDTH, 1))
        head = lambda layers: layers[1](torch.tanh(layers[0](hidden)))
        return head(self.actor), head(self.critic)[:, 0], torch.cat([hidden, cell], 1)


def name_of(torch_name):
    """nn.GRU calls its parameters weight_ih_l0, …"""
    return torch_name.replace("_l0", "")


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


def main(path):
    torch.set_default_dtype(torch.float64)
    network = Symbolic()
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
    result["statistics"] = {n: float(f"{b.norm():.8g}") for n, b in network.named_buffers()
                            if "running" in n}
    network.eval()
    scores, values, memory = network(images[0], words, torch.zeros(3, 2 * WIDTH))
    result["evaluation"] = {"scores": numbers(scores), "values": numbers(values),
                            "memory": numbers(memory[:, ::32])}
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])

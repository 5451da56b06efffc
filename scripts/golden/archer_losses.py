"""Compares tests/golden/rl/losses.json with what ArCHer's own trainer computes.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13 numpy tqdm
    VENV/bin/python scripts/golden/archer_losses.py DIR tests/golden/rl/losses.json

DIR is github.com/YifeiZhou02/ArCHer (at 7c771a7). Its ArcherTrainer computes the critic's and the
actor's losses of networks that give the values of the golden file, in float64, with their
gradients; its agent moves the target networks, and its add_mc_return sums rewards. The other
entries of the file belong to other papers, whose code is no class that could be called, or to our
own rules.
"""

import importlib.util
import json
import os
import sys
import types

import numpy
import torch


def fill(shape, a, b, scale=1.0):
    k = torch.arange(int(numpy.prod(shape)), dtype=torch.float64)
    return (scale * torch.sin(a * k + b)).reshape(shape)


def load(folder, *path):
    spec = importlib.util.spec_from_file_location(path[-1], os.path.join(folder, "archer", *path) + ".py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_archer(folder):
    """The trainer, the agent and the tools of the environments, without the models' packages."""
    def stand_in(name, **values):
        module = types.ModuleType(name)
        module.__dict__.update(values)
        sys.modules[name] = module

    stand_in("transformers", AutoTokenizer=None, AutoModelForCausalLM=None, LlamaTokenizer=None,
             LlamaForCausalLM=None, RobertaModel=None)
    stand_in("peft", LoraConfig=None, TaskType=None, get_peft_model=None)
    stand_in("archer")
    stand_in("archer.data", DummyDataset=list)
    stand_in("archer.models")
    stand_in("archer.models.critic", DoubleCritic=None)
    return (load(folder, "algorithms", "archer", "trainer").ArcherTrainer,
            load(folder, "models", "archer_agent").ArcherAgent,
            load(folder, "environment", "env_utils").add_mc_return)


class Accelerator:
    """Of one process."""

    def prepare(self, *things):
        return things

    def unwrap_model(self, model):
        return model

    def backward(self, loss):
        loss.backward()


class Agent:
    """Networks that give fixed values; the last layer's outputs are the parameters."""

    def __init__(self, outputs):
        self.model = types.SimpleNamespace(device="cpu", dtype=torch.float64,
                                           parameters=lambda: [outputs["scores"]])
        self.critic = Callable(lambda *_, **__: outputs["values"], outputs["values"])
        self.target_critic = lambda *_, **__: outputs["targets"]
        self.get_action = lambda observation: observation
        self.get_log_prob = lambda *_: outputs["log_prob"]


class Callable:
    def __init__(self, call, parameters):
        self.call, self.list = call, list(parameters)

    def __call__(self, *arguments, **options):
        return self.call(*arguments, **options)

    def parameters(self):
        return self.list


def main(folder, path):
    golden = json.load(open(path))
    trainer_class, agent_class, add_mc_return = load_archer(folder)
    differences = {}

    def compare(name, ours, original):
        ours = torch.as_tensor(ours, dtype=torch.float64).flatten()
        original = torch.as_tensor(original, dtype=torch.float64).flatten()
        differences[name] = float((ours - original).abs().max())

    def trainer(outputs, gamma=0.95):
        defaults = {"scores": torch.zeros(1, requires_grad=True, dtype=torch.float64),
                    "values": [torch.zeros(1, requires_grad=True, dtype=torch.float64)]}
        return trainer_class(Agent({"targets": None, "log_prob": None, **defaults, **outputs}),
                             Accelerator(), None, gamma=gamma)

    critic = golden["critic_archer"]
    values = [fill((6,), 0.7, b, 3).requires_grad_() for b in (0, 0.5, 1, 1.5)]
    targets = [fill((6,), 0.45, b, 3) for b in (0.2, 0.8, 1.4, 2.0)]
    # torch.Tensor rounds the rewards to float32, which these are already.
    info = trainer({"values": values, "targets": targets}, critic["gamma"]).critic_loss(
        None, None, critic["reward"], None, critic["done"], None)
    for name in ("q1", "q2", "v1", "v2"):
        compare(f"critic_archer {name}", critic[f"{name}_loss"], info[f"{name}.loss"])
    compare("critic_archer gradients", critic["grads_q1_q2_v1_v2"],
            torch.stack([v.grad for v in values]))

    logprob = golden["sequence_logprob"]
    tokens, mask = torch.tensor(logprob["tokens"]), torch.tensor(logprob["mask"]).double()

    def scored():
        logits = fill((3, 5, 11), 0.37, 0.1, 2).requires_grad_()
        chosen = torch.log(torch.take_along_dim(torch.softmax(logits, -1), tokens[..., None], 2))
        return logits, chosen[..., 0] * mask

    actor = golden["actor_reinforce"]
    logits, log_prob = scored()
    info = trainer({"log_prob": log_prob.sum(1)}).actor_loss(None, None, actor["advantage"])
    compare("actor_reinforce loss", actor["loss"], info["pg.loss"])
    compare("actor_reinforce gradient", actor["grad_000_to_003"], logits.grad[0, 0, :4])
    compare("actor_reinforce norm", actor["grad_norm"], logits.grad.norm())

    baseline = golden["actor_baseline"]
    logits, log_prob = scored()
    guess = fill((3, 5), 0.9, 0.3).requires_grad_()
    info = trainer({"log_prob": (guess[..., None], log_prob, mask)}).actor_loss(
        None, None, baseline["advantage"])
    compare("actor_baseline policy", baseline["pg_loss"], info["pg.loss"])
    compare("actor_baseline values", baseline["grad_values"], guess.grad)
    compare("actor_baseline norm", baseline["grad_logits_norm"], logits.grad.norm())

    for name, tau, times in [("tau_0.1", 0.1, 1), ("tau_0.05", 0.05, 1), ("tau_0.1_three_times", 0.1, 3)]:
        target, online = fill((4,), 1.1, 0), fill((4,), 1.1, 2)
        agent = types.SimpleNamespace(target_critic=Callable(None, [target]),
                                      critic=Callable(None, [online]))
        for _ in range(times):
            agent_class.soft_update_target_critic(agent, tau)
        compare(f"polyak {name}", golden["polyak"][name], target)

    returns = golden["mc_return"]
    steps = add_mc_return([{"reward": r} for r in returns["rewards"]], returns["gamma"])
    compare("mc_return", returns["returns"], [float(s["mc_return"]) for s in steps])

    for name, difference in differences.items():
        print(f"{name:32} {difference:.1e}")
    sys.exit(1 if max(differences.values()) > 1e-6 else 0)


main(*sys.argv[1:])

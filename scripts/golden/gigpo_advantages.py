"""Makes tests/golden/rl/gigpo_advantages.json with the authors' own code of GiGPO.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 numpy
    VENV/bin/python scripts/golden/gigpo_advantages.py CORE_GIGPO tests/golden/rl/gigpo_advantages.json

CORE_GIGPO is the folder gigpo of github.com/langfengQ/verl-agent, or of DrMAS by the same authors (commit
3b556f2c). Episodes are texts of one-letter actions with a reward at the end; the state before an action are
the letters so far in any order. The file has the advantage of each step among the steps of its state, and the
whole advantage with that of the episode, as the code's two modes give them.
"""

import json
import random
import sys
import types

import numpy
import torch

GAMMA = 0.95


def main():
    sys.modules["verl"] = types.SimpleNamespace(DataProto=None)
    sys.path.insert(0, sys.argv[1])
    import core_gigpo

    stream = random.Random(7)
    episodes = [{"actions": "".join(stream.choice("abc") for _ in range(stream.randint(1, 5))),
                 "reward": stream.choice([0, 0, 0.5, 1])} for _ in range(12)]
    steps = [(e, t) for e, episode in enumerate(episodes) for t in range(len(episode["actions"]))]
    rewards = [episodes[e]["reward"] if t + 1 == len(episodes[e]["actions"]) else 0 for e, t in steps]
    states = numpy.array(["".join(sorted(episodes[e]["actions"][:t])) for e, t in steps], dtype=object)
    batch = types.SimpleNamespace(
        non_tensor_batch={"rewards": numpy.array(rewards), "traj_uid": numpy.array([str(e) for e, _ in steps]),
                          "active_masks": numpy.ones(len(steps)), "env_step": numpy.array([t for _, t in steps])},
        batch={"input_ids": torch.zeros(1)})
    returns = core_gigpo.compute_step_discounted_returns(batch, GAMMA)
    mask = torch.ones(len(steps), 1)
    totals = torch.tensor([[float(episodes[e]["reward"])] for e, _ in steps])
    index, trajectory = numpy.zeros(len(steps), dtype=int), numpy.array([e for e, _ in steps])
    out = {"gamma": GAMMA, "episodes": episodes}
    for mode in ("mean_norm", "mean_std_norm"):
        for name, weight in (("episode", 0.0), ("whole", 1.0)):
            scores, _ = core_gigpo.compute_gigpo_outcome_advantage(
                totals.clone(), returns, mask, states, index, trajectory, step_advantage_w=weight, mode=mode)
            by_episode = [[] for _ in episodes]
            for (e, _), score in zip(steps, scores[:, 0].tolist()):
                by_episode[e].append(round(score, 6))
            out.setdefault(mode, {})[name] = by_episode
    with open(sys.argv[2], "w") as file:
        json.dump(out, file)
        file.write("\n")


if __name__ == "__main__":
    main()

"""Whole episodes of ScienceWorld by its own Python package, for tests/servers/sciworld.

    python3 -m venv VENV && VENV/bin/pip install scienceworld==1.2.3
    JAVA_TOOL_OPTIONS="-XX:+UnlockExperimentalVMOptions -XX:hashCode=2" \\
      VENV/bin/python scripts/golden/sciworld_episodes.py > tests/golden/sciworld_episodes.json

Each episode plays a part of the simulator's own plan, with actions between that are random among the
valid ones, free, unknown, or a wait. Scores, rewards and ends are those of the package.
"""

import json
import os
import random
import sys

from scienceworld import ScienceWorldEnv

# (type, variation, actions of the plan, every how many a random one comes between)
EPISODES = [
    ("1-1", 3, 30, 7),
    ("3-3", 417, 25, 6),
    ("4-4", 210, 30, 5),
    ("6-1", 12, 40, 0),
    ("7-1", 77, 30, 4),
]
OTHERS = ["inventory", "wait", "fly to the moon", "look around", "wait1", "task"]


def play(env, task, variation, planned, every):
    chance = random.Random(variation)
    env.load(task, variation, "", True)
    plan = env.get_gold_action_sequence()[:planned]
    env.load(task, variation, "", False)
    steps = []

    def step(action):
        observation, reward, done, info = env.step(action)
        steps.append(dict(action=action, observation=observation, reward=reward,
                          score=info["score"], done=done))
        return done, info["valid"]

    description = env.get_task_description()
    done, valid = step("look around")
    for i, action in enumerate(plan):
        if every and i % every == every - 1 and not done:
            done, valid = step(chance.choice(sorted(valid)))
            if not done:
                done, valid = step(OTHERS[i // every % len(OTHERS)])
        if done:
            break
        done, valid = step(action)
    return dict(task=task, variation=variation, description=description, steps=steps)


def main():
    env = ScienceWorldEnv("", envStepLimit=100)
    episodes = [play(env, *episode) for episode in EPISODES]
    json.dump({
        "command": "JAVA_TOOL_OPTIONS=%r python scripts/golden/sciworld_episodes.py"
                   % os.environ.get("JAVA_TOOL_OPTIONS", ""),
        "episodes": episodes,
    }, sys.stdout, indent=1, ensure_ascii=False)
    print()


main()

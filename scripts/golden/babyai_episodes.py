"""Episodes of BabyAI-Text played on the public package minigrid, for
tests/games/babyai/babyai_episodes_test.cc; with --bench, the speed of that package.

python3 -m venv venv && venv/bin/pip install minigrid       # 3.2.0, numpy 2.4.6 were used
venv/bin/python scripts/golden/babyai_episodes.py --episodes 2000 > babyai_2000.jsonl
AGENTR_BABYAI_GOLDEN=babyai_2000.jsonl build/release/bin/games_test

The package brings BabyAI's world, rules, rooms and bot. The mixed levels and the descriptions in words
are not in it: they are written here after arXiv 2302.02662 and its repository (levels and draws in
their order), on top of the package's own functions.
"""

import argparse
import contextlib
import json
import random
import sys
import time

from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT
from minigrid.envs.babyai.core.roomgrid_level import RoomGridLevel
from minigrid.envs.babyai.core.verifier import (AfterInstr, BeforeInstr, GoToInstr, ObjDesc,
                                                OpenInstr, PickupInstr, PutNextInstr)
from minigrid.envs.babyai.goto import GoToLocal, GoToRedBall
from minigrid.utils.baby_ai_bot import BabyAIBot

TASKS = ("goto", "pickup", "open", "putnext", "pick up seq go to")
HELD_OUT = {("yellow", "box"), ("red", "key"), ("red", "door"), ("green", "ball"), ("grey", "door")}


class MixedLevel(RoomGridLevel):
    """The mixed levels of BabyAI-Text, with a fixed kind of task."""

    def __init__(self, task, test=False, order=None):
        self.task, self.test, self.order = task, test, order
        super().__init__(room_size=8, num_rows=1, num_cols=2 if task == "open" else 1)

    def gen_mission(self):
        while True:
            # New walls: the package's base class knows how.
            super(RoomGridLevel, self)._gen_grid(self.width, self.height)
            self.named = []
            reachable = self.gen_open() if self.task == "open" else self.gen_room()
            fits = all((pair in HELD_OUT) == self.test for pair in self.named)
            if reachable and fits:
                return

    def describe(self, obj):
        self.named.append((obj.color, obj.type))
        return ObjDesc(obj.type, obj.color)

    def gen_room(self):
        self.place_agent()
        two = self.task not in ("goto", "pickup")
        objs = self.add_distractors(num_distractors=10 if two else 9, all_unique=False)
        reachable = self.check_objs_reachable(raise_exc=False)
        first = self._rand_elem(objs)
        if not two:
            kind = GoToInstr if self.task == "goto" else PickupInstr
            self.instrs = kind(self.describe(first))
            return reachable
        same = lambda obj: (obj.type, obj.color) == (first.type, first.color)
        second = self._rand_elem(objs)
        if same(second) and sum(map(same, objs)) < 2:
            while same(second):
                second = self._rand_elem(objs)
        if self.task == "putnext":
            self.instrs = PutNextInstr(self.describe(first), self.describe(second))
            return reachable
        pick, go = PickupInstr(self.describe(first)), GoToInstr(self.describe(second))
        order = self.order or self._rand_elem(["then", "after"])
        self.instrs = BeforeInstr(pick, go) if order == "then" else AfterInstr(go, pick)
        return reachable

    def gen_open(self):
        color = self._rand_elem(["red", "grey"] if self.test
                                else ["yellow", "green", "blue", "purple"])
        while True:
            i, j, side = (self._rand_int(0, self.num_cols), self._rand_int(0, self.num_rows),
                          self._rand_int(0, 4))
            locked = self.get_room(i, j)
            if locked.neighbors[side] is not None:
                break
        self.add_door(i, j, side, color=color, locked=True)
        while True:
            i, j = self._rand_int(0, self.num_cols), self._rand_int(0, self.num_rows)
            if self.get_room(i, j) is not locked:
                break
        self.add_object(i, j, "key", color)
        self.add_distractors(i, j, num_distractors=8, all_unique=False)
        while True:
            self.place_agent()
            if self.room_from_pos(*self.agent_pos) is not locked:
                break
        reachable = self.check_objs_reachable(raise_exc=False)
        named = color if self.test else self._rand_elem([None, color])
        if named:
            self.named.append((named, "door"))
        self.instrs = OpenInstr(ObjDesc("door", named))
        return reachable


def combinations():
    """(name of the level, task as the recorder of the original named it, how to make it)"""
    for task in TASKS:
        yield "BabyAI-MixedTrainLocal-v0", task, lambda t=task: MixedLevel(t)
        yield "BabyAI-MixedTestLocal-v0", task, lambda t=task: MixedLevel(t, test=True)
    for name, order in (("PickUpSeqGoTo", None), ("PickUpThenGoTo", "then"),
                        ("GoToAfterPickUp", "after")):
        yield (f"BabyAI-{name}Local-v0", "pick up seq go to",
               lambda o=order: MixedLevel("pick up seq go to", order=o))
    yield "BabyAI-GoToLocal-v0", "", GoToLocal
    yield "BabyAI-GoToRedBall-v0", "", GoToRedBall


def digits(cell):
    return "".join(str(int(v)) for v in cell)


def rows(image):
    width, height = image.shape[:2]
    return [" ".join(digits(image[x, y]) for x in range(width)) for y in range(height)]


def steps(count, side):
    return f"{count} step{'' if count == 1 else 's'} {side}"


def where(x, y):
    aside = [steps(3 - x, "left")] if x < 3 else [steps(x - 3, "right")] if x > 3 else []
    return " and ".join(aside + ([steps(6 - y, "forward")] if y < 6 else []))


def describe(image, carrying):
    """The sentences of BabyAI-Text for a view of 7 x 7 cells."""
    kind = lambda x, y: IDX_TO_OBJECT[int(image[x, y][0])]
    said = [f"You carry a {carrying.color} {carrying.type}"] if carrying else []
    for line in ([(3, y) for y in range(5, -1, -1)], [(x, 6) for x in (2, 1, 0)],
                 [(x, 6) for x in (4, 5, 6)]):
        first = next((c for c in line if kind(*c) not in ("unseen", "empty")), None)
        if first and kind(*first) == "wall":
            said.append("You see a wall " + where(*first))
    for x in range(7):
        for y in range(7):
            if (x, y) == (3, 6) or kind(x, y) in ("unseen", "empty", "wall"):
                continue
            name = f"{IDX_TO_COLOR[int(image[x, y][1])]} {kind(x, y)}"
            if kind(x, y) == "door":
                name = ("open ", "closed ", "locked ")[int(image[x, y][2])] + name
            said.append(f"You see a {name} {where(x, y)}")
    return said


def play(env, policy, choose, most):
    """Plays the episode that env stands at; the golden file's fields."""
    image = env.gen_obs()["image"]
    episode = {
        "policy": policy, "mission": env.mission, "max_steps": env.max_steps,
        "width": env.width, "height": env.height, "grid": rows(env.grid.encode()),
        "agent_pos": [int(v) for v in env.agent_pos], "agent_dir": int(env.agent_dir),
        "view": rows(image), "descriptions0": describe(image, env.carrying), "steps": [],
    }
    bot = BabyAIBot(env) if policy == "bot" else None
    taken, total = None, 0.0
    done = False
    while not done and len(episode["steps"]) < most:
        action = choose.randrange(6)
        if bot is not None:
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    planned = int(bot.replan(taken))
            except Exception:  # the bot gives up on some worlds: go on at random
                bot, planned = None, action
            # One in eight is a slip, which it has to make good.
            action = planned if choose.random() > 0.125 or planned == 6 else action
        obs, reward, terminated, truncated, _ = env.step(env.actions(action))
        done, total, taken = bool(terminated or truncated), total + reward, env.actions(action)
        episode["steps"].append([action, float(reward), done,
                                 describe(obs["image"], env.carrying)])
    episode.update({"return": float(total), "n_steps": len(episode["steps"]),
                    "final_grid": rows(env.grid.encode()),
                    "final_agent": [int(v) for v in (*env.agent_pos, env.agent_dir)]})
    return episode


def record(count, first_seed):
    made = list(combinations())
    number = 0
    while number < count:
        level, task, make = made[(number // 3) % len(made)]
        seed = first_seed + number // 3
        env = make()
        for index in range(min(3, count - number)):
            with contextlib.redirect_stdout(sys.stderr):
                env.reset(seed=seed) if index == 0 else env.reset()
            choose = random.Random(f"{seed} {index}")
            policy = "bot" if number % 4 else "random"
            episode = play(env, policy, choose, most=128)
            print(json.dumps({"id": number, "level": level, "task": task, "seed": seed,
                              "episode_index": index, **episode}, separators=(",", ":")))
            number += 1


def bench(seconds):
    """Steps per second with descriptions, random actions, one environment per task."""
    envs = [MixedLevel(task) for task in TASKS]
    choose = random.Random(1)
    for i, env in enumerate(envs):
        env.reset(seed=i)
    done = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        for env in envs:
            obs, _, terminated, truncated, _ = env.step(env.actions(choose.randrange(6)))
            describe(obs["image"], env.carrying)
            if terminated or truncated:
                env.reset()
            done += 1
    return done / (time.perf_counter() - begin)


parser = argparse.ArgumentParser()
parser.add_argument("--episodes", type=int, default=2000)
parser.add_argument("--first_seed", type=int, default=5000)
parser.add_argument("--bench", type=float, default=0, help="measure for so many seconds instead")
options = parser.parse_args()
if options.bench > 0:
    with contextlib.redirect_stdout(sys.stderr):  # the package prints what it rejects
        speed = bench(options.bench)
    print(f"{speed:.0f}")
else:
    record(options.episodes, options.first_seed)

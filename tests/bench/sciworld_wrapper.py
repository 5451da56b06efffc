"""Steps per second of ScienceWorld's own Python package, beside sciworld_bench.

    python tests/bench/sciworld_wrapper.py tests/golden/sciworld_episodes.json [SECONDS]
"""

import json
import sys
import time

from scienceworld import ScienceWorldEnv


def main(golden, seconds=10):
    begin = time.time()
    env = ScienceWorldEnv("", envStepLimit=100)
    print("start-up: %.2f s" % (time.time() - begin))
    episodes = json.load(open(golden))["episodes"]
    for name in ("cold", "warm"):
        steps = 0
        stepping = 0.0
        end = time.time() + float(seconds)
        while time.time() < end:
            episode = episodes[steps % len(episodes)]
            env.load(episode["task"], episode["variation"], "", False)
            for step in episode["steps"]:
                at = time.time()
                env.step(step["action"])
                stepping += time.time() - at
                steps += 1
        print("%s: %.0f steps/s, loads included %.0f" % (name, steps / stepping,
                                                        steps / float(seconds)))


main(*sys.argv[1:])

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
        steps = played = 0
        stepping = 0.0
        begin = time.time()
        end = begin + float(seconds)
        while time.time() < end:
            episode = episodes[played % len(episodes)]
            played += 1
            env.load(episode["task"], episode["variation"], "", False)
            for step in episode["steps"]:
                at = time.time()
                env.step(step["action"])
                stepping += time.time() - at
                steps += 1
        print("%s: %.1f steps/s, loads included %.1f"
              % (name, steps / stepping, steps / (time.time() - begin)))


main(*sys.argv[1:])

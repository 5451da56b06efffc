"""Goals of a WebShop as AgentGym's copy of WebShop makes them, for
tests/games/webshop/goals_test.cc.

    python3 scripts/golden/webshop_goals.py DIR tests/data/webshop > tests/golden/webshop_goals.json

DIR is agentenv-webshop/webshop of github.com/WooooDyy/AgentGym (at 3ef9235), whose code makes the
goals (webshop_original.py names its packages). A ranged price counts with its lower end, as the
test sets it.
"""

import json
import sys

import webshop_original

COMMAND = "python3 scripts/golden/webshop_goals.py DIR tests/data/webshop"


def fields(goal):
    options = goal["goal_options"]
    pairs = options.items() if isinstance(options, dict) else [("", value) for value in options]
    return {"asin": goal["asin"], "text": goal["instruction_text"], "attributes": goal["attributes"],
            "options": [list(pair) for pair in pairs], "limit": goal["price_upper"]}


def main(folder, shop):
    output = webshop_original.silence()
    webshop_original.prepare(folder, shop)
    goals = {"command": COMMAND}
    for kind in ("synthetic", "human"):
        made = webshop_original.load_shop(kind == "human", lambda p: p["pricing"][0])[1]
        goals[kind] = [fields(goal) for goal in made]
    print(json.dumps(goals, indent=1, ensure_ascii=False), file=output)


main(sys.argv[1], sys.argv[2])

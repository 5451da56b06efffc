"""Goals of a WebShop as Python makes them, for tests/servers/webshop/goals_test.cc.

    python3 scripts/golden/webshop_goals.py tests/data/webshop > tests/golden/webshop_goals.json

Written from the description of the published goal code, with Python's own `random` and `itertools`.
A ranged price counts with its lower end, as the test sets it.
"""

import itertools
import json
import random
import re
import sys

SEED = 233
LIMITS = [10.0 * i for i in range(1, 100)]


def prices(text):
    if not text:
        return [100.0]
    return [float(re.sub(r"[^\d.]", "", piece)) for piece in text.split("$")[1:]][:2]


def options(record):
    found = {}
    for name, contents in (record["customization_options"] or {}).items():
        if contents is not None:
            found[name.lower()] = [
                c["value"].strip().replace("/", " | ").lower() for c in contents
            ]
    return found


def load(folder):
    products = {}
    for record in json.load(open(f"{folder}/items_shuffle.json")):
        asin = record["asin"]
        if asin != "nan" and len(asin) <= 10 and asin not in products:
            products[asin] = record
    return products


def synthetic(products, attributes):
    random.seed(SEED)
    goals = []
    for asin, record in products.items():
        wanted = attributes[asin]
        if wanted["instruction"] is None:
            continue
        above = [p for p in LIMITS if p > prices(record["pricing"])[0]][:4]
        limit = max(random.sample(above, 2)) if len(above) >= 2 else None
        tail = f", and price lower than {limit:.2f} dollars" if limit else ""
        offered = options(record)
        for values in itertools.product(*(offered[name] for name in sorted(offered))):
            choice = dict(zip(sorted(offered), values))
            middle = ", and ".join(f"{k}: {v}" for k, v in choice.items())
            text = wanted["instruction"] + (" with " + middle if middle else "") + tail
            goals.append(
                dict(asin=asin, text=text, attributes=wanted["instruction_attributes"],
                     options=list(choice.items()), limit=limit or 1e6)
            )
    return goals


def human(products, instructions):
    goals = []
    for asin, record in products.items():
        for instruction in instructions.get(asin, []):
            if not instruction["instruction_attributes"]:
                continue
            above = [p for p in LIMITS if p > prices(record["pricing"])[0]][:4]
            for limit in above if len(above) >= 2 else [None] * 4:
                tail = f", and price lower than {limit:.2f} dollars" if limit else ""
                goals.append(
                    dict(asin=asin, text=instruction["instruction"].strip(".") + tail,
                         attributes=instruction["instruction_attributes"],
                         options=[["", value] for value in instruction["instruction_options"]],
                         limit=limit or 1e6)
                )
    return goals


def shuffled(goals):
    random.seed(SEED)
    random.shuffle(goals)
    return goals


def main(folder):
    products = load(folder)
    attributes = json.load(open(f"{folder}/items_ins_v2.json"))
    instructions = json.load(open(f"{folder}/items_human_ins.json"))
    print(json.dumps({
        "command": "python3 scripts/golden/webshop_goals.py tests/data/webshop",
        "synthetic": shuffled(synthetic(products, attributes)),
        "human": shuffled(human(products, instructions)),
    }, indent=1, ensure_ascii=False))


main(sys.argv[1])

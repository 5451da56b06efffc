"""The sessions of tests/golden/webshop_session.txt, played with WebShop's own text environment as
AgentGym serves it, for tests/games/webshop/webshop_session_test.cc.

    build/release/bin/env_server --task webshop --port 32361 --shop_seed 1 \\
        --products tests/data/webshop/items_shuffle.json --attributes tests/data/webshop/items_ins_v2.json &
    python3 scripts/golden/webshop_session.py DIR tests/data/webshop http://127.0.0.1:32361 \\
        < tests/golden/webshop_session.txt > new.txt

DIR is agentenv-webshop/webshop of github.com/WooooDyy/AgentGym (at 3ef9235); webshop_original.py
names the packages, and says what is replaced. The instructions and actions are those of the file
that is read.
"""

import importlib.util
import os
import sys

import webshop_original

SHOP_SEED = 1


def load_environment(folder):
    """The module of the text environment, without the browser's that its package imports too."""
    path = os.path.join(folder, "web_agent_site", "envs", "web_agent_text_env.py")
    spec = importlib.util.spec_from_file_location("web_agent_text_env", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def open_environment(module, show_attributes):
    """With the prices and the search of env_server."""
    products, goals = webshop_original.load_shop(
        False, lambda product: webshop_original.price(product, SHOP_SEED))
    module.load_products = lambda **_: (
        products, {p["asin"]: p for p in products},
        {p["asin"]: webshop_original.price(p, SHOP_SEED) for p in products}, None)
    module.init_search_engine = lambda **_: webshop_original.Search()
    module.get_goals = lambda *_: goals
    module.random.shuffle = lambda _: None  # load_shop has done it
    return module.WebAgentTextEnv(observation_mode="text", human_goals=0, show_attrs=show_attributes)


def describe(env, shown, reward, done, goal):
    # The test calls every session 7, as a part of the address.
    url = "/".join("7" if part == str(goal) and i in (3, 4) else part
                   for i, part in enumerate(env.state["url"].split("/")))
    pieces = shown.replace(" [SEP] ", "\n    | ")
    clickables = " / ".join(env.get_available_actions()["clickables"])
    return (f"  reward {float(reward)}, done {str(done).lower()}, {url}\n    | {pieces}\n"
            f"  clickables: {clickables}")


def main(folder, shop, base):
    output = webshop_original.silence()
    webshop_original.prepare(folder, shop, webshop_original.Server(base))
    module = load_environment(folder)
    shuffle = module.random.shuffle
    lines = [line.rstrip("\n") for line in sys.stdin]
    sections = sum(line.startswith("=== ") for line in lines)
    section = 0
    for line in lines:
        if line.startswith("=== "):
            section += 1
            module.random.shuffle = shuffle
            env = open_environment(module, show_attributes=section == sections)
            texts = [goal["instruction_text"] for goal in env.server.goals]
            goal = texts.index(line[4:])
            print(line, file=output)
            print(describe(env, env.reset(session=goal)[0], 0, False, goal), file=output)
        elif line.startswith("> "):
            shown, reward, done, _ = env.step(line[2:])
            print(line, file=output)
            print(describe(env, shown, reward, done, goal), file=output)


main(*sys.argv[1:])

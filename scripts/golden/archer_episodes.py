"""Episodes of WebShop as ArCHer shows it, played with ArCHer's own class on WebShop's own pages,
for tests/games/webshop/archer_shop_test.cc.

Needs the sources of both, github.com/YifeiZhou02/ArCHer (at 7c771a7) and
github.com/princeton-nlp/WebShop (at 64fa2a5), and the packages that webshop_original.py names.

    build/release/bin/env_server --task webshop --port 32361 SHOP &
    python3 scripts/golden/archer_episodes.py --archer DIR --webshop DIR --shop tests/data/webshop \\
        --search http://127.0.0.1:32361 --episodes 20 --seed 3 > tests/golden/rl/archer_episodes.json

where SHOP is --shop_seed 1 --products tests/data/webshop/items_shuffle.json --attributes
tests/data/webshop/items_ins_v2.json. --search is the server of webshop_original.py. An episode
whose reward differs because spaCy finds other nouns in a title is left out.

With --compare URL, a server of the same shop with --task webshop_archer, every observation, reward and end
is compared with that server's instead; env_server --export writes a large shop for --shop:

    python3 scripts/golden/archer_episodes.py … --compare http://127.0.0.1:32362 --episodes 300
"""

import argparse
import importlib.util
import json
import logging
import os
import random
import sys
import threading
from collections import defaultdict

import webshop_original

COMMAND = "scripts/golden/archer_episodes.py (its head says how)"
SUB_PAGES = ["Description", "Features", "Reviews", "Attributes"]

# Goals of tests/data/webshop with actions that random ones seldom reach: a click on what is not
# there, on the start page and on a sub-page, and on an option of the product that was open before.
SCRIPTED = [
    (11, ["click[Search]", "wait", "search[lamp", "click[Back to Search]", "search[lamp prices]",
          "click[B000000005]", "click[modern]", "click[Features]", "click[< Prev]",
          "click[Buy Now]"]),
    (11, ["search[lamp prices]", "click[B000000005]", "click[< Prev]", "click[B000000006]",
          "click[modern]", "click[Description]", "click[modern]", "click[Next >]",
          "click[< Prev]", "click[Buy Now]"]),
]


def open_site(folder, shop, seed, server):
    """WebShop's Flask application with the products and synthetic goals of `shop`."""
    webshop_original.prepare(folder, shop, server)
    import web_agent_site.app as site

    site.all_products, site.goals = webshop_original.load_shop(
        False, lambda product: webshop_original.price(product, seed))
    site.product_item_dict = {p["asin"]: p for p in site.all_products}
    site.product_prices = {p["asin"]: webshop_original.price(p, seed) for p in site.all_products}
    site.attribute_to_asins = defaultdict(set)
    for product in site.all_products:
        for attribute in product["Attributes"]:
            site.attribute_to_asins[attribute].add(product["asin"])
    site.search_engine = webshop_original.Search()
    site.weights = [goal["weight"] for goal in site.goals]
    return site


def serve(app):
    """The address at which the application now listens."""
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def load_archer(folder):
    """ArCHer's module, without the other environments of its package."""
    path = os.path.join(folder, "archer", "environment", "webshop.py")
    spec = importlib.util.spec_from_file_location("archer_webshop", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def odd_action(draw, state, instruction):
    """What a policy writes by mistake."""
    options = list(state.get("option_types", {}))
    asins = state.get("asins", [])
    word = draw.choice(instruction.split())
    choices = ["wait", "click", "click[]", "click[", "Search[lamp]", "click[Search]", "click[search]",
               "click[Next >]", "click[< Prev]", "click[Back to Search]", "click[back to search]",
               "click[Buy Now]", "click[buy now]", "click[Buy Now", "click[Buy Now]]", "click[Buy Now] ",
               "click[no such thing]", "think[]", "think[a thought]", "think[no end", "think(a thought)",
               f"search[{word}]", f"search[{word}", f"search[{word}] ", f"buy[{word}]", "reset[now]",
               "Buy Now", "[Buy Now]", f"click[{word}]"]
    choices += [f"click[{page}]" for page in SUB_PAGES]
    choices += [f"click[{name.upper()}]" for name in options[:3]]
    choices += [f"click[{name}]" for name in options[:3] + asins[-3:]]
    choices += [f"click[{asin.lower()}]" for asin in asins[:2]]
    return draw.choice(choices)


def any_action(draw, state, instruction):
    page = state["page_type"]
    if draw.random() < 0.25:
        action = odd_action(draw, state, instruction)
    elif page == "init":
        words = instruction.split()
        action = f"search[{' '.join(draw.sample(words, min(len(words), draw.randint(1, 4))))}]"
    else:
        choices = ["Back to Search", "< Prev"]
        if page == "search":
            choices += state.get("asins", []) * 4
        if page == "item":
            choices += list(state.get("option_types", {})) * 4 + SUB_PAGES + ["Buy Now"] * 3
        action = f"click[{draw.choice(choices)}]"
    return action + "\n" * (draw.random() < 0.1)


class Episode:
    """One session of the original, beside one of `other` if there is one."""

    def __init__(self, batch, goal, other):
        self.batch, self.goal, self.other = batch, goal, other
        self.log = batch.reset([goal])[0]
        self.env = batch.env_list[0]
        self.actions, self.rewards, self.done, self.differences = [], [], False, []
        if other:
            self.session = other.call("/create", {})
            reset = {"env_idx": self.session, "session_id": goal}
            self.compare("", other.call("/reset", reset)[0], self.log)

    def state(self):
        return self.env.env.sessions[self.env.env.session_id]

    def compare(self, action, ours, original):
        if ours != original:
            self.differences.append(
                {"goal": self.goal, "action": action, "ours": ours, "original": original})

    def step(self, action):
        self.log, reward, self.done = self.batch.step([action])[0]
        self.actions.append(action)
        self.rewards.append(reward)
        if self.other:
            reply = self.other.call("/step", {"env_idx": self.session, "action": action})
            self.compare(action, [reply["state"], reply["reward"], reply["done"]],
                         [self.log, reward, self.done])

    def nouns_differ(self, site, server):
        """Whether the reward of a purchase depends on nouns that spaCy and env_server see differently."""
        state = self.state()
        if state["page_type"] != "end":
            return False
        bought = site.product_item_dict[state["asin"]]
        from web_agent_site.engine.goal import get_type_reward

        score = get_type_reward(bought, site.goals[self.goal])
        return score["r_type"] != ours_type(server, self.goal, state)


def ours_type(server, goal, state):
    """The type's part of the reward for the same purchase at a server in AgentGym's style."""
    session = server.call("/create", {})
    server.call("/reset", {"env_idx": session, "session_id": goal})

    def move(action):
        server.call("/step", {"env_idx": session, "action": action})

    move(f"search[ {state['query_string'].translate(str.maketrans('[]', '  '))} ]")
    while state["asin"].lower() not in server.call(f"/available_actions?env_idx={session}")["clickables"]:
        move("click[next >]")
    move(f"click[{state['asin']}]")
    move("click[buy now]")
    reward = server.call(f"/state?env_idx={session}")["reward"]
    server.call("/close", {"env_idx": session})
    return reward["type"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--archer", required=True)
    parser.add_argument("--webshop", required=True)
    parser.add_argument("--shop", required=True)
    parser.add_argument("--shop_seed", type=int, default=1)
    parser.add_argument("--search", required=True)
    parser.add_argument("--compare")
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    output = webshop_original.silence()
    search = webshop_original.Server(arguments.search)
    other = webshop_original.Server(arguments.compare) if arguments.compare else None
    site = open_site(arguments.webshop, arguments.shop, arguments.shop_seed, search)
    archer = load_archer(arguments.archer)
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    batch = archer.BatchedWebShopEnv(serve(site.app), 0, len(site.goals), bsize=1)
    draw = random.Random(arguments.seed)
    scripted = [] if other else SCRIPTED
    episodes, skipped, actions, differences = [], 0, 0, []
    while len(episodes) < arguments.episodes:
        if len(episodes) < len(scripted):
            goal, wanted = scripted[len(episodes)]
        else:
            goal, wanted = draw.randrange(len(site.goals)), []
        episode = Episode(batch, goal, other)
        for action in wanted:
            episode.step(action)
        while not episode.done:
            episode.step(any_action(draw, episode.state(), episode.env.instruction))
        if episode.nouns_differ(site, search):
            skipped += 1
            continue
        episodes.append({"goal": episode.goal, "actions": episode.actions,
                         "rewards": episode.rewards, "log": episode.log})
        actions += len(episode.actions)
        differences += episode.differences
    if other:
        bought = sum(e["rewards"][-1] > 0 for e in episodes)
        print(f"{len(episodes)} episodes ({bought} with a reward), {actions} actions:",
              f"{len(differences)} differences; {skipped} episodes left out for their nouns",
              file=output)
        for difference in differences[:3]:
            print(json.dumps(difference, indent=1, ensure_ascii=False), file=output)
        sys.exit(1 if differences else 0)
    json.dump({"command": COMMAND, "episodes": episodes}, output, indent=1, ensure_ascii=False)
    print(file=output)


main()

"""Episodes of WebShop as ArCHer shows it, for tests/servers/webshop/archer_shop_test.cc.

    build/release/bin/env_server --task webshop --port 32361 --shop_seed 1 \\
        --products tests/data/webshop/items_shuffle.json --attributes tests/data/webshop/items_ins_v2.json
    python3 scripts/golden/archer_episodes.py --html http://127.0.0.1:32361 --episodes 8 --seed 2 \\
        > tests/golden/rl/archer_episodes.json

Written from the description of ArCHer's client: it makes text of HTML pages with BeautifulSoup. The
pages come from GET /state of a server in AgentGym's style. With --compare URL of a second server of
the same shop in ArCHer's style (--style archer) every observation, reward and end is compared with
that server's instead:

    python3 scripts/golden/archer_episodes.py --html URL --compare URL --episodes 300
"""

import argparse
import json
import random
import sys
import urllib.request

from bs4 import BeautifulSoup
from bs4.element import Comment

COMMAND = "scripts/golden/archer_episodes.py (its head says how)"
HIDDEN = ["style", "script", "head", "title", "meta", "[document]"]
SUB_PAGES = ["Description", "Features", "Reviews", "Attributes"]
HORIZON = 10


class Server:
    def __init__(self, base):
        self.base = base

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)


class Client:
    """ArCHer's client; pages are fetched by playing a session in AgentGym's style."""

    def __init__(self, server, goal):
        self.server = server
        self.session = server.call("/create", {})
        server.call("/reset", {"env_idx": self.session, "session_id": goal})
        self.page = "init"
        self.words, self.options, self.option_types, self.asins = "", {}, {}, []
        self.reward, self.steps, self.done = 0.0, 0, False
        observation = self.text()
        begin = observation.index("Instruction:") + len("Instruction:")
        self.instruction = observation[begin : observation.rindex("[Search]")].strip()
        self.log = f"\nObservation:\n{observation}"

    def close(self):
        self.server.call("/close", {"env_idx": self.session})

    def observation(self):
        out_of_steps = self.done and self.page != "end"
        return self.log + ("" if out_of_steps else f"\nInstruction:\n{self.instruction}")

    def move(self, action):
        self.server.call("/step", {"env_idx": self.session, "action": action})

    def text(self):
        """The text of the present page."""
        html = self.server.call(f"/state?env_idx={self.session}")["html"]
        url = f"{self.page}/{self.words}/{self.options}"
        out, plain, products, since_product, option_type = "", 0, 0, 0, ""
        strings = BeautifulSoup(html, "html.parser").find_all(string=True)
        visible = [t for t in strings if t.parent.name not in HIDDEN and not isinstance(t, Comment)]
        if "Your score (min 0.0, max 1.0)" in visible:
            score = visible[visible.index("Your score (min 0.0, max 1.0)") + 1 :]
            score = next(t for t in score if t.strip())
            self.reward = float(score)
            return f"Your score (min 0.0, max 1.0): {score}"
        option_types, asins = {}, []
        for t in visible:
            if not t.strip():
                continue
            if t.parent.name == "button":
                piece = f"\n[{t}] "
            elif t.parent.name == "label":
                piece = f"[[{t}]]" if f"'{t}'" in url else f"[{t}]"
                option_types[str(t)] = option_type
            elif t.parent.get("class") == ["product-link"]:
                piece = f"\n[{t}] " if products < 3 else ""
                products += 1
                asins.append(str(t))
                since_product = 0
            else:
                piece = f"\n{t} "
                if plain < 2 and self.page != "init":
                    piece = ""
                if since_product <= 2 and products >= 4:
                    piece = ""
                option_type = str(t)
                plain += 1
            since_product += 1
            out += piece
        self.option_types, self.asins = option_types, asins
        return out.encode().decode("unicode-escape").encode("latin-1").decode("utf-8")

    def answer(self, action):
        if action.startswith("think["):
            return "OK."
        name, _, argument = action.partition("[")
        if not argument.endswith("]") or argument == "]":
            return "Invalid action!"
        argument = argument[:-1]
        if name == "search" and self.page == "init":
            self.page, self.words = "search", argument.lower()
            self.move(action)
            return self.text()
        if name != "click":
            return "Invalid action!"
        return self.click(argument)

    def click(self, button):
        if button == "Buy Now" and self.page == "item":
            self.page, self.done = "end", True
        elif button == "Back to Search" and self.page in ["search", "item", "item_sub"]:
            self.page, self.words, self.options = "init", "", {}
        elif button == "< Prev" and self.page in ["item", "item_sub"]:
            if self.page == "item":
                self.options = {}
            self.page = "search" if self.page == "item" else "item"
        elif button in SUB_PAGES and self.page == "item":
            if button == "Attributes":
                return None  # no page of the server in AgentGym's style
            self.page = "item_sub"
        elif self.page == "search" and button in self.asins:
            self.page = "item"
        elif self.page == "item" and button in self.option_types:
            self.options[self.option_types[button]] = button
            self.move(f"click[{button}]")
            return f"You have clicked {button}."
        else:
            return "Invalid action!"
        self.move(f"click[{button}]")
        return self.text()

    def step(self, action):
        self.reward = 0.0
        if self.done:
            return
        if self.steps >= HORIZON:
            self.done = True
            return
        self.steps += 1
        action = action.removesuffix("\n")
        self.log += f"\nAction:\n{action}\nObservation:\n{self.answer(action)}"

    def any_action(self, draw):
        """Mostly something possible."""
        if draw.random() < 0.12:
            return draw.choice(
                ["", "wait", "click[]", "click[Next >]", "click[Search]", "think[so far so good]"]
                + ["search[", "search[]", "click[buy now]", "click[< Prev]", "think[]\n", "Click[x]"]
                + ["click[Buy Now]x", "click[Description]", "search[a]", "click[Back to Search]\n"]
            )
        if self.page == "init":
            words = self.instruction.replace(":", " ").split()
            return f"search[{' '.join(draw.sample(words, min(len(words), draw.randint(1, 4))))}]"
        choices = ["Back to Search", "< Prev"]
        if self.page == "search":
            choices = self.asins * 4 + choices
        if self.page == "item":
            # An option that is called like a button would click the button in AgentGym's style.
            options = [o for o in self.option_types if o.capitalize() not in SUB_PAGES]
            choices += options * 4 + SUB_PAGES[:3] * 2 + ["Buy Now"]
        return f"click[{draw.choice(choices)}]"


def play(server, other, goal, draw):
    """An episode; the differences from the other server, if there is one."""
    client = Client(server, goal)
    actions, rewards, differences = [], [], []
    if other:
        session = other.call("/create", {})
        shown = other.call("/reset", {"env_idx": session, "session_id": goal})[0]
        if shown != client.observation():
            differences.append((goal, "", client.observation(), shown))
    while not client.done:
        action = client.any_action(draw)
        client.step(action)
        actions.append(action)
        rewards.append(client.reward)
        if other:
            reply = other.call("/step", {"env_idx": session, "action": action})
            ours = (client.observation(), client.reward, client.done)
            theirs = (reply["state"], reply["reward"], reply["done"])
            if ours != theirs:
                differences.append((goal, action, ours, theirs))
    if other:
        other.call("/close", {"env_idx": session})
    client.close()
    return {"goal": goal, "actions": actions, "rewards": rewards, "log": client.observation()}, differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--html", required=True)
    parser.add_argument("--compare")
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    server = Server(arguments.html)
    other = Server(arguments.compare) if arguments.compare else None
    goals = server.call("/version")["tasks"]
    draw = random.Random(arguments.seed)
    episodes, turns, differences = [], 0, []
    while len(episodes) < arguments.episodes:
        episode, different = play(server, other, draw.randrange(goals), draw)
        episodes.append(episode)
        turns += len(episode["actions"])
        differences += different
    if other:
        bought = sum(e["rewards"][-1] > 0 for e in episodes)
        print(f"{len(episodes)} episodes ({bought} with a reward), {turns} actions:", end=" ")
        print(f"{len(differences)} differences")
        for difference in differences[:3]:
            print(json.dumps(difference, indent=1))
        sys.exit(1 if differences else 0)
    json.dump({"command": COMMAND, "episodes": episodes}, sys.stdout, indent=1, ensure_ascii=False)
    print()


main()

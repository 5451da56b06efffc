"""WebShop's own code for the golden scripts: loads web_agent_site of a checkout, with what cannot
run here replaced.

Packages: flask==2.1.2, werkzeug==2.1.2, beautifulsoup4==4.11.1, thefuzz==0.19.0, requests, rich,
cleantext, rank_bm25, tqdm, spacy with en_core_web_sm; for webshop_session.py also gym and torch.

Replaced are the search, which needs Lucene: its results are those of a server of the same shop
(env_server --task webshop); the price of a product with a range of prices, which the original draws
without a seed: it is that of env_server; and the model en_core_web_lg, which AgentGym's copy
loads, by en_core_web_sm. Everything else is the unmodified original.
"""

import json
import os
import random
import sys
import types
import urllib.request

GOAL_SEED = 233
BITS = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


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


class Search:
    """Stands in for Pyserini's LuceneSearcher: the results are those of `server`."""

    server = None
    asins = {}  # by their lower case
    found = {}  # by words

    def __init__(self, _folder=None):
        pass

    def search(self, words, k):
        if words not in self.found:
            self.found[words] = list(self.ask(words))
        return [types.SimpleNamespace(docid=asin) for asin in self.found[words][:k]]

    def doc(self, docid):
        return types.SimpleNamespace(raw=lambda: json.dumps({"id": docid}))

    def ask(self, words):
        # Brackets and line breaks only separate words; a blank in front keeps "<c>" a plain word.
        words = " " + words.translate(str.maketrans("[]\n", "   ")) + " "
        session = self.server.call("/create", {})
        action = f"search[{words}]"
        while True:
            self.server.call("/step", {"env_idx": session, "action": action})
            action = "click[next >]"
            page = self.server.call(f"/available_actions?env_idx={session}")["clickables"]
            products = [self.asins[name] for name in page if name in self.asins]
            if not products:
                break
            yield from products
        self.server.call("/close", {"env_idx": session})


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS
    return z ^ z >> 31


def split(key, name):
    """RandomStream::Split of common/random.h."""
    part = 0xCBF29CE484222325
    for byte in name.encode():
        part = (part ^ byte) * 0x100000001B3 & BITS
    return mix(key ^ mix(part + GAMMA & BITS))


def price(product, seed):
    """What env_server --shop_seed takes as the price of a product."""
    first, last = (product["pricing"] * 2)[:2] if len(product["pricing"]) == 1 else product["pricing"]
    draw = mix(split(split(mix(seed), "price"), product["asin"]) + GAMMA & BITS) >> 11
    return first + (last - first) * draw * 2.0**-53


def silence():
    """The originals print a lot. Returns the real standard output."""
    output, sys.stdout = sys.stdout, open(os.devnull, "w")
    return output


def prepare(folder, shop, server=None):
    """Makes `import web_agent_site…` load the code of `folder` on the files of `shop`."""
    lucene = types.ModuleType("pyserini.search.lucene")
    lucene.LuceneSearcher = Search
    sys.modules.update({"pyserini": types.ModuleType("pyserini"),
                        "pyserini.search": types.ModuleType("pyserini.search"),
                        "pyserini.search.lucene": lucene})
    Search.server = server
    import spacy

    load = spacy.load
    spacy.load = lambda _name: load("en_core_web_sm")
    sys.path.insert(0, folder)
    import web_agent_site.utils as utils

    utils.DEFAULT_FILE_PATH = os.path.join(shop, "items_shuffle.json")
    utils.DEFAULT_ATTR_PATH = os.path.join(shop, "items_ins_v2.json")
    utils.HUMAN_ATTR_PATH = os.path.join(shop, "items_human_ins.json")


def load_shop(human_goals, price_of):
    """The products, and the goals in their order; price_of(product) replaces the drawn prices."""
    import web_agent_site.utils as utils
    from web_agent_site.engine.engine import load_products
    from web_agent_site.engine.goal import get_goals

    products = load_products(filepath=utils.DEFAULT_FILE_PATH, human_goals=human_goals)[0]
    Search.asins = {p["asin"].lower(): p["asin"] for p in products}
    random.seed(GOAL_SEED)
    goals = get_goals(products, {p["asin"]: price_of(p) for p in products}, human_goals)
    random.seed(GOAL_SEED)
    random.shuffle(goals)
    return products, goals

"""What AgentGym's clients and servers say to each other, for tests/tasks/agentgym_exchanges_test.cc.

    python3 scripts/golden/agentgym_exchanges.py AGENTGYM NAME [BASE] > tests/golden/agentgym_exchanges/NAME.json

AGENTGYM is github.com/WooooDyy/AgentGym (at 3ef9235); NAME is a task file of configs/tasks. The requests are
those of AgentGym's own client, which plays the outputs of a model that stand here. The replies are those of
its own server at BASE, which SERVERS says how to start. Without BASE they are REPLIES below: written by
hand from the server's source, for servers that need data or keys that we do not have.

Packages: requests, numpy; what the clients import for training is replaced by nothing.
"""

import copy
import json
import os
import re
import sys
import unittest.mock

SERVERS = {
    "agentgym_textcraft": "agentenv-textcraft: PYTHONHASHSEED=0 uvicorn agentenv_textcraft:app",
    "agentgym_babyai": "agentenv-babyai: uvicorn agentenv_babyai:app (minigrid 2.3.1, gymnasium 0.29.1)",
    "agentgym_wordle": "agentenv-lmrlgym: uvicorn agentenv_lmrlgym.server:app (transformers replaced by nothing)",
    "agentgym_maze": "agentenv-lmrlgym: uvicorn agentenv_lmrlgym.server:app (transformers replaced by nothing)",
    "agentgym_webshop": "env_server --task webshop --num_products 200 --no_extensions: the original needs Lucene and spaCy",
    "agentgym_sciworld": "agentenv-sciworld: uvicorn agentenv_sciworld:app (scienceworld 1.2.3)",
}

# The client's class, the task, and the outputs of the model.
GAMES = {
    "agentgym_textcraft": ("textcraft", "TextCraftEnvClient", 31, ["inventory", "fly - away!\nThen I see.",
                                                                  "get 1 oak log", "get 2 stone.", "inventory"]),
    "agentgym_babyai": ("babyai", "BabyAIEnvClient", 4, ["turn left", "check available actions",
                                                            "fly", "turn right", "go to green key 1"]),
    "agentgym_wordle": ("lmrlgym", "WordleEnvClient", 1, ["c o u l d", "z z z z z", "c r i m p"]),
    "agentgym_maze": ("lmrlgym", "MazeEnvClient", 17, ["move up", "wait", "move down", "move down", "move down"]),
    "agentgym_sciworld": ("sciworld", "SciworldEnvClient", 0, ["look around", "fly", "open door to kitchen",
                                                             "go to kitchen"]),
    "agentgym_webshop": ("webshop", "WebshopEnvClient", 3, ["search[red shirt]", "click[back to search]",
                                                            "search[shirt]", "click[buy now]"]),
    "alfworld": ("alfworld", "AlfWorldEnvClient", 2420, ["go to desk 1", "fly", "go to desk 1"]),
    "sqlgym": ("sqlgym", "SqlGymEnvClient", 9428, ["I look.\n```sql\nSELECT 1\n```", "```sql\nSELECT\n  name\nFROM t\n```"]),
    "searchqa": ("searchqa", "SearchQAEnvClient", 7, ["Who was it?\n<search>first king</search>", "Hm.",
                                                     "<answer>Arthur</answer>"]),
    "webarena": ("webarena", "WebarenaEnvClient", 3, ["In summary, the next action I will perform is ```click [12]```",
                                                     "I am done. ```stop [yes]```"]),
}
WHOLE = {"sqlgym", "searchqa", "webarena", "weather", "movie", "academia", "sheet", "todo"}
TOOLS = {"weather": 5, "movie": 6, "academia": 0, "sheet": 1, "todo": 2}
for name, task in TOOLS.items():
    GAMES[name] = (name, name.capitalize() + "EnvClient", task, [
        "Thought: first\nAction: get_user_current_date with Action Input: {}", "What?",
        'Action: finish with Action Input: {"answer": "yes"}'])

TOOL_REPLIES = {
    "/create": [0],
    "/reset": ["What is the answer? Give me one action."],
    "/step": [
        {"observation": "2023-12-01\nGive me one action.", "reward": 0, "done": False},
        {"observation": "Format error, please response with proper format", "reward": 0, "done": False},
        {"observation": "Finished. ", "reward": 0.5, "done": True},
    ],
}
# By the path of a call, in the order of the calls.
REPLIES = {
    "alfworld": {
        "/create": [{"id": 0}],
        "/reset": [{"id": 0, "observation": "You are in the middle of a room.\n\nYour task is to: examine the mug.",
                    "available_actions": ["go to desk 1", "look"], "task_type": "examine"}],
        "/step": [
            {"observation": "You arrive at desk 1.", "reward": 0, "available_actions": ["examine desk 1"], "done": False},
            {"observation": "Nothing happened.", "reward": 0, "available_actions": ["examine desk 1"], "done": False},
            {"observation": "You won!", "reward": 1, "available_actions": [], "done": True},
        ],
    },
    "sqlgym": {
        "/create": [0],
        "/reset": [["How many?\nCREATE TABLE t (name TEXT)", None]],
        "/observation": ["How many?\nCREATE TABLE t (name TEXT)"],
        "/step": [{"state": "[(1,)]", "reward": 0.0, "done": True, "info": {}},
                  {"state": "[('a',)]", "reward": 1.0, "done": True, "info": {}}],
    },
    "searchqa": {
        "/create": [0],
        "/reset": ["Question: Who was the first king?"],
        "/step": [
            {"observation": "\n\n<information>Arthur.</information>\n\n", "reward": 0, "done": False, "info": None},
            {"observation": "\nYour previous action is invalid. Try again.\n", "reward": 0, "done": False, "info": None},
            {"observation": "", "reward": 1, "done": True, "info": None},
        ],
        "/close": [True],
    },
    "webarena": {
        "/create": [{"env_idx": 0}],
        "/reset": [{"observation": {"text": "Tab 0"}, "sites": ["map"], "object": "Where is it?"}],
        "/observation": ["OBSERVATION:\n[12] link 'Map'\nOBJECTIVE: Where is it?"],
        "/step": [
            {"observation": "OBSERVATION:\n[3] button 'Go'", "reward": 0.0, "terminated": False, "truncated": False, "info": None},
            {"observation": "OBSERVATION:\n[3] button 'Go'", "reward": 1.0, "terminated": True, "truncated": False, "info": None},
        ],
        "/close": [{"closed": True}],
    },
    **{name: TOOL_REPLIES for name in TOOLS},
}

log = []


class Server:
    """Stands in for `requests`: logs each call, and answers by the real server or by REPLIES."""

    class Reply:
        def __init__(self, status, value):
            self.status_code = status
            self.value = value

        def json(self):
            return self.value

    def __init__(self, name, base):
        self.base = base
        self.left = {path: list(replies) for path, replies in REPLIES.get(name, {}).items()}

    def call(self, method, url, body):
        path = url.removeprefix(self.base)
        if method == "GET" or body is None:
            request = {"method": method, "path": path}
        else:
            request = {"method": method, "path": path, "body": dict(body)}
        if self.real:
            reply = (self.real.get(url, timeout=60) if method == "GET" else
                     self.real.post(url, json=body, timeout=60))
            status = reply.status_code
            value = reply.json() if status == 200 else None
        else:
            replies = self.left.get(re.sub(r"\?.*", "", path))
            status, value = (200, replies.pop(0)) if replies else (404, None)
        log.append({**request, **({"status": status} if status != 200 else {"reply": copy.deepcopy(value)})})
        return Server.Reply(status, value)

    real = None

    def post(self, url, json=None, timeout=None):
        return self.call("POST", url, json)

    def get(self, url, timeout=None):
        return self.call("GET", url, None)


def client_module(agentgym, name):
    for missing in ("torch", "torch.nn", "torch.nn.parallel", "transformers", "transformers.generation",
                    "transformers.generation.utils", "openai", "torch_npu"):
        sys.modules.setdefault(missing, unittest.mock.MagicMock())
    sys.path.insert(0, os.path.join(agentgym, "agentenv"))
    import importlib

    package = type(sys)("agentenv.envs")  # the package itself imports all clients
    package.__path__ = [os.path.join(agentgym, "agentenv", "agentenv", "envs")]
    sys.modules["agentenv.envs"] = package
    return importlib.import_module("agentenv.envs." + name)


def main():
    stdout, sys.stdout = sys.stdout, sys.stderr  # the clients print
    agentgym, name = sys.argv[1:3]
    base = sys.argv[3] if len(sys.argv) > 3 else "http://server"
    module_name, class_name, task, outputs = GAMES[name]
    import requests

    module = client_module(agentgym, module_name)
    server = Server(name, re.match(r"https?://[^/]*", base).group())
    server.real = requests if len(sys.argv) > 3 else None
    module.requests = server
    server.RequestException = requests.RequestException
    client = getattr(module, class_name)(env_server_base=base, data_len=1)
    begun = len(log)
    client.reset(task)
    try:
        first = client.observe()
    except Exception:  # some clients keep nothing to observe
        first = None
    # Without the instructions that these two clients put before it, or instead of it.
    first = None if name == "agentgym_wordle" else first.split("\n")[-1] if name == "agentgym_maze" else first
    steps = []
    for output in outputs:
        response = output if name in WHOLE else f"Thought: so.\nAction: {output}"
        at = len(log)
        told = client.step(response)
        steps.append({"response": response, "call": log[at],
                      "told": {"state": told.state, "reward": told.reward, "done": told.done}})
        if told.done and name != "sqlgym":
            break
    at = len(log)
    try:
        client.close()
    except Exception:
        pass
    command = f"python3 scripts/golden/agentgym_exchanges.py AGENTGYM {name}"
    document = {
        "command": command + (" BASE" if server.real else ""),
        "replies": SERVERS.get(name, "the server's own") if server.real else "by hand, from the server's source",
        "task": task, "create": log[0], "reset": log[begun], "observed": None, "first": first}
    for call in log[begun + 1:]:
        if call["path"].split("?")[0].endswith("/observation"):
            document["observed"] = call
            break
    document["steps"] = steps
    document["close"] = log[at] if at < len(log) else None
    sys.stdout = stdout
    print(json.dumps(document, indent=1, ensure_ascii=False))


main()

"""Questions to the verifier "actor", for tests/revision/find/judgement_prompt_test.cc.

    python3 scripts/golden/verifier_prompts.py > tests/golden/verifier_prompts.json

Written from the description of the prompt files (configs/verifier/*.txt): the wording is theirs, the
episodes stand here. The question is about the last turn of each episode.
"""

import json

COMMAND = "python3 scripts/golden/verifier_prompts.py > tests/golden/verifier_prompts.json"

EPISODES = [
    ("textcraft", "Goal: craft stick.", [("get 1 oak logs", "Got 1 oak logs")]),
    (
        "webshop",
        "Instruction: find a blue shirt, price lower than 20 dollars [SEP] Search",
        [
            ("search[blue shirt]", "Back to Search [SEP] b001 [SEP] Blue {log} shirt [SEP] $15"),
            ("click[b001]", "size [SEP] small [SEP] large [SEP] Buy Now"),
            ("click[buy now]", "Your score: 0.5"),
        ],
    ),
    (
        "sciworld",
        "Your task is to boil water.",
        [("look around", "This room is called the hallway."), ("focus on door", "You focus on the door.")],
    ),
    ("babyai", "Your goal: go to the red ball", [("turn left", "There is a red ball 1 ahead.")]),
    ("detective", "You are at: Gate.", [("north", "You are at: Hall."), ("take wax seal", "Taken.")]),
    ("guess_my_city", "Questions:", [("Is it in Asia?", "No.")]),
    ("twenty_questions", "Questions:", [("Is it an animal?", "No.")]),
    ("wordle", "Let's start Wordle!", [("s o l a r", "b b b b b")]),
    ("maze", "There is a wall above you.", [("move down", "There are walls above you, below you.")]),
]


def message(family):
    """The only message of the prompt file: what stands behind its heading."""
    text = open(f"configs/verifier/{family}.txt").read()
    heading = "[user]\n"
    return text[text.index(heading) + len(heading) :].strip("\n")


def question(family, task, turns):
    log = "\n".join(f"Action: {a}\nObservation: {o}" for a, o in turns[:-1]) or "(nothing)"
    action, observation = turns[-1]
    pieces = message(family)
    for name in ("task", "log", "action", "observation"):
        assert pieces.count("{" + name + "}") == 1
    return pieces.format(task=task, log=log, action=action, observation=observation)


cases = [
    {"family": f, "task": t, "turns": s, "question": question(f, t, s).split("\n")}
    for f, t, s in EPISODES
]
print(json.dumps({"command": COMMAND, "cases": cases}, indent=1))

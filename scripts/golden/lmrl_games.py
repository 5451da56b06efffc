"""Episodes of Wordle and the maze on AgentGym's server lmrlgym, for tests/games/lmrl/lmrl_games_test.cc.

    python3 scripts/golden/lmrl_games.py DIR > tests/golden/lmrl_games.json

DIR is agentenv-lmrlgym of github.com/WooooDyy/AgentGym (at 3ef9235) with its submodule lmrlgym
(github.com/abdulhaim/LMRL-Gym; at 911d726 here). Packages: numpy, scikit-image, termcolor, tqdm. The
tokenizer and the shell that LMRL-Gym imports are replaced by nothing, as no game uses them.
"""

import json
import os
import random
import sys
import types


def stub(name, **members):
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module
    return module


stub("transformers")
stub("transformers.tokenization_utils", PreTrainedTokenizer=object)
stub("IPython", embed=None)
stub("uvicorn")
folder = os.path.abspath(sys.argv[1])
sys.path[:0] = [folder, os.path.join(folder, "lmrlgym")]
# The package itself imports its HTTP server, which is not needed.
package = stub("agentenv_lmrlgym")
package.__path__ = [os.path.join(folder, "agentenv_lmrlgym")]

from agentenv_lmrlgym.maze.environment import Lmrlgym_MazeEnv  # noqa: E402
from agentenv_lmrlgym.wordle.environment import Lmrlgym_WordleEnv  # noqa: E402
from llm_rl_scripts.maze.env.mazes import double_t_maze, double_t_maze_optimal_directions  # noqa: E402

MOVES = ["move left", "move right", "move up", "move down"]


def play(env, task, next_action, most):
    """The first reply, and [action, observation, reward, done] of each step."""
    idx = env.create()["id"]
    first = env.reset(idx, task)
    if "error" in first:
        return {"task": task, "error": first["error"]}
    turns = []
    while len(turns) < most:
        action = next_action(env, idx)
        reply = env.step(idx, action)
        turns.append([action, reply["observation"], reply["reward"], reply["done"]])
        if reply["done"]:
            break
    return {"task": task, "first": first["observation"], "turns": turns}


def guess(rng):
    def next_guess(env, idx):
        words = list(env.env[idx].env.vocab.all_vocab)
        word = rng.choice(words if rng.random() < 0.5 else env.get_filtered_vocab(idx))
        kind = rng.random()
        if kind < 0.05:
            word = word[::-1]
        elif kind < 0.1:
            return word  # without blanks
        elif kind < 0.15:
            word = word.upper()
        return " ".join(word) + ("\n" if kind > 0.9 else "")
    return next_guess


def move(rng):
    def next_move(env, idx):
        kind = rng.random()
        if kind < 0.05:
            return rng.choice(["wait", "Move left", "move left ", "up"])
        return rng.choice(MOVES)
    return next_move


def optimal(env, idx):
    return double_t_maze_optimal_directions()[tuple(env.env[idx].position)].strip()


if __name__ == "__main__":
    stdout, sys.stdout = sys.stdout, sys.stderr  # the servers print
    rng = random.Random(7)
    wordle, maze = Lmrlgym_WordleEnv(), Lmrlgym_MazeEnv()
    wordle_games = [play(wordle, seed, guess(rng), 6) for seed in [*range(40), 954, 955, 979]]
    maze_games = [play(maze, game, optimal, 50) for game in range(27)]
    maze_games += [play(maze, game, move(rng), 51) for game in (0, 5, 9)]
    document = {
        "command": "python3 scripts/golden/lmrl_games.py DIR > tests/golden/lmrl_games.json",
        "python": sys.version.split()[0],
        "words": wordle.get_filtered_vocab(wordle.create()["id"]),
        "map": ["".join("#" if cell else "." for cell in row) for row in double_t_maze()],
    }
    sys.stdout = stdout
    print("{")
    for key, value in document.items():
        print(f' {json.dumps(key)}: {json.dumps(value)},')
    for key, games in (("wordle", wordle_games), ("maze", maze_games)):
        print(f' "{key}": [')
        print(",\n".join("  " + json.dumps(game) for game in games))
        print(" ]" + ("," if key == "wordle" else ""))
    print("}")

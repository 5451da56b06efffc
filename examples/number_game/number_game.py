"""Guess a number from 1 to 100 in eight guesses: an environment for agentr in a few lines.

    PYTHONPATH=clients/python python3 examples/number_game/number_game.py &
    mcts_collect --task examples/number_game/number_game.toml --env_server_base http://127.0.0.1:8080

The first line serves it, and the task file says how a model plays it.
"""

import re


class NumberGame:
    def reset(self, task):
        self.secret, self.guesses = task + 1, 0
        return "I think of a number from 1 to 100."

    def step(self, action):
        if not re.fullmatch("[1-9][0-9]?|100", action.strip()):
            return "Please say a number from 1 to 100.", 0, False
        guess = int(action)
        self.guesses += 1
        if guess == self.secret:
            return "Yes!", 1, True
        return f"{'higher' if guess < self.secret else 'lower'} than {guess}", 0, self.guesses == 8


if __name__ == "__main__":
    from agentr_env import serve

    serve(NumberGame, name="number_game", tasks=100)

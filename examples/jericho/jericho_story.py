"""Interactive fiction: a story file of one's own, played by the package jericho.

    pip install jericho
    PYTHONPATH=clients/python python3 examples/jericho/jericho_story.py STORY.z5

serves it on port 8080, and examples/jericho/jericho.toml says how a model plays it. An observation
has the layout of ArCHer's Detective: what `look` and `inventory` say, the answer to the action, and
the valid actions if jericho knows the story. The reward is the share of the story's points so far.
A task is a seed, for stories with chance.

One emulator plays a session and all its forks, of which each only keeps its saved state.
"""

import copy
import re
import sys
import threading
import warnings

import jericho

REFUSAL = "That command is not part of the story."
# Commands to the interpreter: their effects are not in the saved state.
OUTSIDE = {"quit", "q", "restart", "restore", "save", "script", "unscript", "undo"}


def tidy(text):
    """Without the prompt and the status line, which is drawn over a line of blanks."""
    return re.split(r"\s{60,}", text)[0].strip(" \n>")


class Story:
    def __init__(self, path, most_steps=50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jericho.UnsupportedGameWarning)
            self.emulator = jericho.FrotzEnv(path)
        self.lock = threading.Lock()  # of the emulator
        self.most_steps = most_steps

    def fork(self):
        return copy.copy(self)  # a saved state is never changed

    def reset(self, task):
        with self.lock:
            self.emulator.seed(task + 1)
            text = tidy(self.emulator.reset()[0])
            self.state = self.emulator.get_state()
            self.steps, self.reward = 0, 0
            self.first = self.points(text, False)[0]
            return self.observation(text)

    def step(self, action):
        command = action.strip().lower()
        words = {part.strip().split(" ")[0] for part in re.split(r"[.,]|\bthen\b", command)}
        if words & (OUTSIDE | {""}) or len(command.encode()) > 190:
            return REFUSAL, self.reward, False
        with self.lock:
            text, ended = self.say(command)
            self.state = self.emulator.get_state()
            self.steps += 1
            points, most = self.points(text, ended)
            self.reward = min(1, max(0, (points - self.first) / max(1, most - self.first)))
            done = ended or self.steps >= self.most_steps
            return text if done else self.observation(text), self.reward, done

    def say(self, command):
        """The answer in the saved state, which stays, and whether the story has ended."""
        self.emulator.set_state(self.state)
        text, _, ended, _ = self.emulator.step(command)
        # Stories that jericho does not know only show it: *** You have won ***.
        return tidy(text), bool(ended or re.search(r"^\s*\*\*\* .+ \*\*\*", text, re.M))

    def points(self, text, ended):
        """Those so far and all; `text` is the last answer, which tells them at the end."""
        if self.emulator.is_fully_supported:
            return self.emulator.get_score(), self.emulator.get_max_score()
        found = re.search(r"(-?\d+) (?:points? )?out of (?:a (?:possible|maximum of) )?(\d+)",
                          text if ended else self.say("score")[0])
        return (int(found[1]), int(found[2])) if found else (0, 1)

    def observation(self, text):
        parts = [self.say("look")[0], self.say("inventory")[0], text]
        if self.emulator.is_fully_supported:
            self.emulator.set_state(self.state)
            parts.append(str(self.emulator.get_valid_actions(use_parallel=False)))
        return "\n\n".join(parts)


if __name__ == "__main__":
    from agentr_env import serve

    serve(lambda: Story(sys.argv[1]), name="jericho", tasks=1000, files=sys.argv[1:2])

"""Tests of examples/minigrid with the package minigrid."""

import copy
import importlib.util
import os
import re
import sys
import unittest

from test_agentr_env import ROOT, ServerTest


@unittest.skipUnless(importlib.util.find_spec("minigrid"), "the package minigrid is missing")
class MiniGridTest(ServerTest):
    def setUp(self):
        super().setUp()
        sys.path.insert(0, os.path.join(ROOT, "examples", "minigrid"))
        from text_minigrid import TextMiniGrid

        self.make = TextMiniGrid

    def solve(self, task):
        """The shortest actions to the goal, found by copies of the environment."""
        start = self.make()
        start.reset(task)
        seen, states = {start.env.hash()}, [(start, [])]
        for env, path in states:  # which grows
            for action in env.ACTIONS:
                after = copy.deepcopy(env)
                _, reward, done = after.step(action)
                if done:
                    self.assertGreater(reward, 0)
                    return path + [action]
                if after.env.hash() not in seen:
                    seen.add(after.env.hash())
                    states.append((after, path + [action]))

    def test_the_view_tells_the_way(self):
        actions = self.solve(3)
        env = self.make()
        texts = [env.reset(3)] + [env.step(action)[0] for action in actions]
        goal = "Your goal: use the key to open the door and then get to the goal.\nYou see "
        self.assertTrue(texts[0].startswith(goal), texts[0])
        self.assertIn("a yellow door that is locked 1 step forward", " ".join(texts))
        self.assertTrue(any("You carry a yellow key." in text for text in texts))
        self.assertIn("a yellow door that is open", " ".join(texts))
        self.assertRegex(texts[-2], "a green goal 1 step forward")

    def test_what_was_at_the_right_is_ahead_after_a_turn(self):
        checked = 0
        for task in range(30):
            env = self.make()
            steps = re.search("a yellow key ([0-9] steps?) right;", env.reset(task))
            if steps:
                self.assertIn(f"a yellow key {steps[1]} forward", env.step("turn right")[0])
                checked += 1
        self.assertGreater(checked, 0)

    def test_words_that_are_no_action(self):
        env = self.make()
        env.reset(0)
        before = env.env.hash()
        refusal = ("That is no action. The actions are: "
                   "turn left, turn right, go forward, pick up, drop, toggle.")
        self.assertEqual(env.step("fly"), (refusal, 0, False))
        self.assertEqual(env.env.hash(), before)

    def test_forks_over_http(self):
        server = self.start(self.make, name="minigrid", tasks=1000)
        self.assertEqual(server.environments.version["extensions"], ["expand"])
        actions = self.solve(5)
        id = self.begin(server, 5)
        for action in actions:
            both = self.post(server, "/expand", id=id, actions=[action, "turn left"])["children"]
            id = both[0]["id"]
        self.assertTrue(both[0]["done"])
        self.assertGreater(both[0]["reward"], 0.9)
        self.assertFalse(both[1]["done"])


if __name__ == "__main__":
    unittest.main()

"""Tests of examples/jericho with the package jericho, on a story that is compiled for them."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from test_agentr_env import ROOT, ServerTest

FOLDER = os.path.join(ROOT, "examples", "jericho")
LIBRARY = "/usr/share/inform6/library"
SHORE = "Shore\nA lighthouse stands north of here. East the cliff falls to the sea."
NOTHING = "You're carrying nothing."
REFUSAL = "That command is not part of the story."


@unittest.skipUnless(importlib.util.find_spec("jericho"), "the package jericho is missing")
@unittest.skipUnless(shutil.which("inform6") and os.path.isdir(LIBRARY),
                     "inform6-compiler or inform6-library is missing")
class JerichoTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, "lighthouse.z5")
        source = os.path.join(FOLDER, "lighthouse.inf")
        subprocess.run(["inform6", f"+include_path={LIBRARY}", source, cls.path], check=True,
                       stdout=subprocess.DEVNULL)
        sys.path.insert(0, FOLDER)

    def make(self, **options):
        from jericho_story import Story

        return Story(self.path, **options)

    def test_layout_and_points(self):
        story = self.make()
        first = story.reset(0)
        self.assertTrue(first.startswith(f"{SHORE}\n\n{NOTHING}\n\nThe fog comes in"), first)
        self.assertTrue(first.endswith(SHORE), first)
        hut = ("Hut\nA dry hut. The shore lies east.\n\n"
               "You can see a box of matches and a brass key here.")
        self.assertEqual(story.step("West"), (f"{hut}\n\n{NOTHING}\n\n{hut}", 0, False))
        actions = "take matches", "take key", "east", "north"
        self.assertEqual([story.step(action)[1] for action in actions], [0.2, 0.5, 0.5, 0.5])
        text, reward, done = story.step("burn lamp")
        self.assertIn("*** You have won ***", text)
        self.assertEqual((reward, done), (1, True))
        text, reward, done = self.play("west", "take key", "east", "east")
        self.assertIn("*** You have died ***", text)
        self.assertEqual((reward, done), (0.3, True))

    def play(self, *actions):
        story = self.make()
        story.reset(0)
        return [story.step(action) for action in actions][-1]

    def test_commands_to_the_interpreter(self):
        story = self.make()
        story.reset(0)
        look = story.step("look")
        for text in ("quit", "Restart", "undo", "save", "west. quit", "west then restore", "",
                     "x" * 200):
            self.assertEqual(story.step(text), (REFUSAL, 0, False), text)
        self.assertEqual(story.step("look"), look)

    def test_limit_of_steps(self):
        story = self.make(most_steps=2)
        story.reset(0)
        self.assertEqual([story.step("look")[2] for _ in range(2)], [False, True])

    def test_forks_over_http(self):
        server = self.start(self.make, files=[self.path])
        self.assertEqual(server.environments.version["extensions"], ["expand"])
        id = self.begin(server)
        other = self.begin(server)
        west, fall = self.post(server, "/expand", id=id, actions=["west", "east"])["children"]
        self.assertEqual([west["done"], fall["done"]], [False, True])
        actions = ["take key", "take matches", "east"]
        taken = self.post(server, "/expand", id=west["id"], actions=actions)["children"]
        self.assertEqual([child["reward"] for child in taken], [0.3, 0.2, 0])
        # Neither a fork's parent nor its siblings have moved, nor another session.
        for at, reward in ((west["id"], 0.3), (taken[0]["id"], 0.3), (taken[1]["id"], 0.5)):
            self.assertEqual(self.post(server, "/step", id=at, action="take key")["reward"], reward)
        for at in (id, other):
            reply = self.post(server, "/step", id=at, action="look")
            self.assertEqual(reply["observation"], f"{SHORE}\n\n{NOTHING}\n\n{SHORE}")


if __name__ == "__main__":
    unittest.main()

"""The reader of clients/python over a folder that the programs make. Run by scripts/test_python.sh."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import urllib.request

import agentr
from agentr import programs, track


class ReaderTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        run = lambda name, *more, **options: agentr.run(name, *more, quiet=True, cwd=cls.folder, **options)
        run("mcts_collect", task="textcraft", min=31, max=36)
        run("mcts_collect", task="textcraft", min=31, max=36, tree_format="agent-r", output_dir="agent_r")
        cls.collected = run("path_collect", input_dir="mcts_result")
        run("agent_eval", task="textcraft", max=6, attempts=2, max_steps=10)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def at(self, name):
        return os.path.join(self.folder, name)

    def test_trees(self):
        trees = list(agentr.trees(self.at("mcts_result")))
        self.assertEqual([tree.task for tree in trees], [31, 32, 33, 34, 35])
        tree = trees[2]
        self.assertEqual((tree.family, tree.model, tree.search["n_gen"]), ("textcraft", "planner", 4))
        self.assertEqual(len(tree.instruction), 2)
        with open(tree.path, encoding="utf-8") as file:
            self.assertEqual(len(tree.nodes), len(json.load(file)["nodes"]))
        best = max(tree.leaves, key=lambda leaf: leaf.reward)
        path = tree.path_to(best)
        self.assertEqual(len(path), best.depth)
        self.assertEqual((path[0].parent, path[-1]), (0, best))
        # What the search backs up: a node's value is the sum over its children.
        for node in tree.nodes:
            if node.children:
                self.assertAlmostEqual(node.value, sum(tree.nodes[child].value for child in node.children))

    def test_both_formats_are_one_tree(self):
        def shape(tree):
            return sorted((tuple(node.action for node in tree.path_to(node)), node.observation, node.reward,
                           node.visits, node.value, node.end) for node in tree.nodes)
        compact, original = [list(agentr.trees(self.at(name))) for name in ("mcts_result", "agent_r")]
        self.assertEqual([tree.task for tree in original], [tree.task for tree in compact])
        for one, other in zip(compact, original):
            self.assertEqual(shape(one), shape(other))
            self.assertEqual([message.content for message in one.instruction],
                             [message.content for message in other.instruction])

    def test_rows(self):
        rows = agentr.rows(self.at("path_result/textcraft_centric.messages.jsonl"))
        self.assertIn(f"rows          {len(rows)}\n", self.collected)
        originals = agentr.rows(self.at("path_result/textcraft_centric.jsonl"))
        self.assertEqual(len(originals), len(rows))
        turns = trained = 0
        for row, original in zip(rows, originals):
            self.assertEqual(row.provenance["replay"], "verified")
            self.assertEqual(row.task, original.task)
            self.assertEqual([message.content for message in row.trained],
                             [message.content for message in original.trained])
            turns += sum(message.role == "assistant" for message in row.messages)
            trained += len(row.trained)
        self.assertIn(f"trained       {trained} (", self.collected)
        self.assertIn(f"of {turns} turns", self.collected)

    def test_rows_bring_their_provenance(self):
        path = self.at("path_result/textcraft_centric.messages.jsonl")
        alone = shutil.copy(path, self.at("alone.messages.jsonl"))
        rows = agentr.rows(alone)
        self.assertEqual([(row.task, row.provenance, row.more) for row in rows],
                         [(row.task, row.provenance, row.more) for row in agentr.rows(path)])
        self.assertEqual({row.provenance["replay"] for row in rows}, {"verified"})

    def test_episodes(self):
        episodes = agentr.episodes(self.at("test_result"))
        self.assertEqual([(one.task, one.attempt) for one in episodes][:4], [(0, 0), (0, 1), (1, 0), (1, 1)])
        with open(self.at("test_result/textcraft/planner_scripted/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual(len(episodes), summary["episodes"])
        self.assertEqual(sum(one.steps for one in episodes), summary["steps"])
        self.assertAlmostEqual(sum(one.reward for one in episodes) / len(episodes), summary["reward"]["mean"])

    def test_runs(self):
        runs = agentr.runs(self.folder)
        self.assertEqual(sorted(one.program for one in runs),
                         ["agent_eval", "mcts_collect", "mcts_collect", "path_collect"])
        search = agentr.runs(self.at("mcts_result/textcraft/planner/run.json"))[0]
        self.assertEqual((search.options["max"], search.more["result"]["finished"]), (36, 5))

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("there is no pandas")
        trees = list(agentr.trees(self.at("mcts_result")))
        self.assertEqual(list(agentr.frame(trees)["task"]), [31, 32, 33, 34, 35])
        self.assertEqual(len(agentr.frame(trees[0])), len(trees[0].nodes))
        rows = agentr.frame(agentr.rows(self.at("path_result/textcraft_centric.messages.jsonl")))
        self.assertEqual(set(rows["replay"]), {"verified"})
        self.assertGreater(agentr.frame(agentr.episodes(self.at("test_result")))["reward"].max(), 0)

    def test_what_is_none_is_named(self):
        path = self.at("path_result/textcraft_centric.run.json")
        for read in (agentr.read_tree, agentr.read_episode):
            with self.assertRaisesRegex(ValueError, "textcraft_centric.run.json"):
                read(path)
        with self.assertRaisesRegex(ValueError, "this is no episode"):
            agentr.read_episode(self.at("agent_r/textcraft/planner/search_results_31.json"))
        broken = self.at("broken.jsonl")
        with open(broken, "w", encoding="utf-8") as file:
            file.write('{"messages": []}\n{"messages"\n')
        with self.assertRaisesRegex(ValueError, "broken.jsonl, line 2"):
            agentr.rows(broken)
        with self.assertRaises(FileNotFoundError):
            list(agentr.trees(self.at("nowhere")))

    def test_serve(self):
        game = "class Game:\n def reset(self, task): return f'task {task}'\n def step(self, action): return '', 1, True"
        with subprocess.Popen([sys.executable, "-c", f"import agentr\n{game}\nagentr.serve(Game, tasks=3, port=0)"],
                              stdout=subprocess.PIPE, encoding="utf-8") as server:
            url = server.stdout.readline().split()[-1]
            with urllib.request.urlopen(f"{url}/version") as reply:
                self.assertEqual(json.load(reply)["tasks"], 3)
            server.terminate()

    def test_track(self):
        run = self.at("run")
        os.makedirs(run)
        path = os.path.join(run, "metrics.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"step": 1, "train": {"loss": 2, "kind": {"good": 3}}, "cut": false, "note": "x"}\n{"step": 2, "lr":')
        self.assertEqual(list(track.metrics(run)), [(1, {"train/loss": 2.0, "train/kind/good": 3.0})])
        # The rest of a half-written line, a step that was sent already, and the next.
        lines = track.metrics(run, follow=True, poll=0.01)
        self.assertEqual(next(lines)[0], 1)
        with open(path, "a", encoding="utf-8") as file:
            file.write(' 0.5}\n{"step": 2, "lr": 0.7}\n{"step": 3, "lr": 0.25}\n')
        self.assertEqual([next(lines), next(lines)], [(2, {"lr": 0.5}), (3, {"lr": 0.25})])
        sent = []
        wandb = types.SimpleNamespace(init=lambda **of: sent.append(of["name"]) or types.SimpleNamespace(
            log=lambda values, step: sent.append((step, values)), finish=lambda: sent.append("end")))
        with unittest.mock.patch.dict(sys.modules, wandb=wandb):
            track.main([run, "--to", "wandb"])
        self.assertEqual(sent, ["run", (1, {"train/loss": 2.0, "train/kind/good": 3.0}), (2, {"lr": 0.5}),
                                (3, {"lr": 0.25}), "end"])

    def test_programs(self):
        self.assertEqual(programs.arguments("a", max=3, format=["x", "y"], replay=True, task=None),
                         ["a", "--max=3", "--format=x", "--format=y", "--replay=1"])
        with self.assertRaises(agentr.ProgramError) as raised:
            agentr.run("mcts_collect", quiet=True, no_such_option=1)
        self.assertEqual(raised.exception.code, 2)
        self.assertIn("no_such_option", str(raised.exception))
        with self.assertRaisesRegex(FileNotFoundError, "no_such_program in the package, in AGENTR_BIN or on the PATH$"):
            agentr.run("no_such_program")

    def test_a_training_program_that_is_not_there_is_explained(self):
        here = {name: os.environ.get(name, "") for name in ("AGENTR_BIN", "PATH")}
        try:
            os.environ.update({"AGENTR_BIN": "", "PATH": ""})
            with self.assertRaisesRegex(FileNotFoundError, "LibTorch, which is not in the wheel.*docs/install.md"):
                agentr.run("agent_train")
        finally:
            os.environ.update(here)


if __name__ == "__main__":
    unittest.main()

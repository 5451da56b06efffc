"""Tests of clients/python/agentr/track.py, with the standard library only."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "clients", "python"))

from agentr import track  # noqa: E402


class MetricsTest(unittest.TestCase):
    def lines(self, text):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "metrics.jsonl"), "w", encoding="utf-8") as file:
                file.write(text)
            return list(track.metrics(folder))

    def test_every_line_of_a_step_is_sent(self):
        self.assertEqual(
            self.lines('{"step": 1, "lr": 0.5}\n{"step": 1, "held_out": {"loss": 2}}\n'
                       '{"step": 1, "play": {"success": 1}}\n{"step": 2, "lr": 0.25}\n'),
            [(1, {"lr": 0.5}), (1, {"held_out/loss": 2.0}), (1, {"play/success": 1.0}),
             (2, {"lr": 0.25})])

    def test_what_was_sent_is_not_sent_again(self):
        self.assertEqual(
            self.lines('{"step": 1, "lr": 0.5}\n{"step": 2, "lr": 0.25}\n{"step": 1, "lr": 0.75}\n'
                       '{"step": 2, "lr": 0.75}\n{"step": 2, "held_out": 3}\n'),
            [(1, {"lr": 0.5}), (2, {"lr": 0.25}), (2, {"held_out": 3.0})])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""What scripts/reproduce makes of two run files."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def record(sample, us, speedup, relation, trust="own_clock"):
    return {"type": "record", "model": "m", "problem": "level1/1_A", "sample": sample,
            "outcome": "correct",
            "timing": {"trust": trust, "sides": {"candidate": {"median_ms": us / 1000},
                                                 "eager": {"median_ms": us * speedup / 1000}}},
            "speedup": [{"baseline": "eager", "value": speedup, "relation": relation}]}


def untimed(sample):
    return dict(record(sample, 1, 1, "same"), timing=None, speedup=[])


def run(*arguments, folder=None):
    return subprocess.run([sys.executable, ROOT / "scripts" / "reproduce", *arguments],
                          capture_output=True, text=True, check=False, cwd=folder)


def report(one, other):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("a.jsonl", "b.jsonl")]
        for path, records in zip(paths, (one, other)):
            path.write_text("".join(json.dumps(line) + "\n" for line in records), encoding="utf-8")
        said = run("--runs", *paths)
        assert said.returncode == 0, said.stderr
        return said.stdout


class Reproduce(unittest.TestCase):
    def test_changes_are_counted_by_the_time_of_the_faster_side(self):
        one = [record(0, 5, 2.0, "faster"), record(1, 15, 2.0, "faster"), record(2, 900, 1.5, "faster")]
        other = [record(0, 5, 2.2, "faster"), record(1, 15, 1.9, "faster"), record(2, 900, 0.6, "slower")]
        text = report(one, other)
        rows = {line.split("  ")[0]: line.split() for line in text.splitlines()}
        self.assertIn("10.00", rows["< 10 us"])
        self.assertIn("5.00", rows["10-20 us"])
        self.assertEqual(rows["> 500 us"][-1], "1")
        # Of those above 10 us.
        self.assertIn("of 2 above 10 us", text)
        self.assertRegex(text, r"reproduce_flips +1")
        self.assertRegex(text, r"own_clock_share +1\.000")

    def test_what_one_run_has_no_time_of_is_counted_apart(self):
        one = [record(0, 50, 1.0, "same"), untimed(1), record(2, 50, 1.0, "same", "bounded")]
        other = [record(0, 50, 1.0, "same"), record(1, 50, 1.0, "same")]
        text = report(one, other)
        self.assertIn("right and timed in both runs: 1; in only one run: 2", text)
        self.assertRegex(text, r"own_clock_share +0\.750")


    def test_a_mistake_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "text.jsonl").write_text("hello\n", encoding="utf-8")
            (folder / "other.jsonl").write_text('{"type": "header"}\n', encoding="utf-8")
            (folder / "reproduce-2.jsonl").write_text("kept\n", encoding="utf-8")
            failing = ["--kbench", "false", "--keep", str(folder / "new"), "answers"]
            for arguments, sentence in [
                    (["--runs", "none.jsonl", "none.jsonl"], "none.jsonl cannot be read"),
                    (["--runs", "text.jsonl", "text.jsonl"], "text.jsonl is not a run file"),
                    (["--runs", "other.jsonl", "other.jsonl"], "has no record"),
                    (["answers"], "reproduce-2.jsonl exists"),
                    (failing, "did not finish (exit code 1)")]:
                said = run(*arguments, folder=folder)
                self.assertEqual(said.returncode, 1, sentence)
                self.assertIn(sentence, said.stderr)
                self.assertEqual(len(said.stderr.splitlines()), 1, said.stderr)
            self.assertEqual((folder / "reproduce-2.jsonl").read_text(encoding="utf-8"), "kept\n")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/bench counts as going through the split."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import bench_split  # noqa: E402
from bench_ptx import Failed  # noqa: E402

INLINE = "from torch.utils.cpp_extension import load_inline\nS = '__global__ void k() {}'\n"


class Split(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.records = []
        self.runs = {"split": self.records}

    def judged(self, name, source, outcome, way):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(source, encoding="utf-8")
        self.records.append({"candidate": str(path), "outcome": outcome,
                             "compile": way and {"way": way, "cached": False}})

    def share(self):
        return bench_split.share(self)

    def test_only_what_the_split_took_counts(self):
        self.judged("a.py", INLINE, "correct", "nvrtc + g++ 12.2.0")
        self.assertEqual(self.share(), 1)
        self.judged("b.py", INLINE, "unsupported", None)  # needs nvcc
        self.assertEqual(self.share(), 1 / 2)
        self.judged("c.cu", "__global__ void k() {}", "compile_failure", None)
        self.judged("d.py", INLINE, "correct", "nvcc 13.0.88 + g++ 12.2.0")
        self.assertEqual(self.share(), 1 / 4)

    def test_a_wrong_answer_went_through_all_the_same(self):
        self.judged("a.py", INLINE, "mismatch", "nvrtc + clang++ 14.0.6, heavy")
        self.assertEqual(self.share(), 1)

    def test_what_has_no_two_halves_does_not_count(self):
        self.judged("kernel.py", "torch.cuda._compile_kernel('__global__ void k() {}', 'k')",
                    "correct", "nvrtc")
        self.judged("plain.py", "import torch", "correct", None)
        with self.assertRaises(Failed):
            self.share()

    def test_the_corpus_has_both_kinds(self):
        files = [path for path in (ROOT / "tests/corpus").rglob("*") if path.suffix in (".py", ".cu")]
        split = [path for path in files if bench_split.has_two_halves(path)]
        self.assertGreaterEqual(len(split), 120)
        self.assertLess(len(split), len(files))


if __name__ == "__main__":
    unittest.main()

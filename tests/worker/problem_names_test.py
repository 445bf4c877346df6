# SPDX-License-Identifier: MIT
"""Tests what a candidate finds of its problem's file, and which of its own constants follow it."""

import ast
import math
import time
import unittest

import torch
import worker_package  # noqa: F401 (makes the worker's files the package kbench_worker)

from kbench_worker import module_host, problem_host, problem_names

_PROBLEM = """
import math
import os.path
from typing import List as L

import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 4096
wide = columns = rows * 2
low, high = -0.5, 1e-3
shape = (rows, [columns, 3])
kind = torch.float16
name: str = 'relu'
where = math.pi
table = {'a': (1, 2.0)}
hidden = torch.ones(3)
if rows > 2:
    late = 7


def helper():
    return 3


computed = helper()


class Model(nn.Module):
    inner = 5

    def forward(self, x):
        return x


def get_inputs():
    return [torch.rand(rows, columns)]
"""

_CONSTANTS = {"rows": 4, "columns": 8, "wide": 8, "low": -0.5, "high": 1e-3, "shape": (4, [8, 3]),
              "kind": torch.float16, "name": "relu", "where": math.pi, "table": {"a": (1, 2.0)},
              "late": 7, "computed": 3}


def _load(sizes=None):
    return problem_host.load("problem.py", _PROBLEM, sizes or {})


class Given(unittest.TestCase):
    def test_plain_constants_at_the_sizes_that_run_and_what_is_imported(self):
        given = _load({"rows": "4"}).kbench_given
        imported = {name: given.pop(name) for name in ("math", "os", "L", "torch", "nn", "F")}
        self.assertEqual(given, _CONSTANTS)
        self.assertIs(imported["F"], torch.nn.functional)
        self.assertIs(imported["nn"], torch.nn)

    def test_a_constant_that_is_changed_is_a_candidates_own(self):
        problem = _load()
        problem.kbench_given["table"]["a"] = 3
        self.assertEqual(problem.table, {"a": (1, 2.0)})


class Follow(unittest.TestCase):
    changes = {"rows": (4096, 4), "columns": (8192, 8), "rate": (0.5, 0.25), "shape": ((2, 3), (1, 3))}

    def after(self, text):
        tree = ast.parse(text)
        problem_names.follow(tree, self.changes)
        names = {}
        exec(compile(tree, "candidate.py", "exec"), names)
        return {name: value for name, value in names.items() if not name.startswith("__")}

    def test_the_changes_are_those_that_other_sizes_make(self):
        changed = _load({"rows": "4"}).kbench_changed
        self.assertEqual(changed, {"rows": (4096, 4), "columns": (8192, 8), "wide": (8192, 8),
                                   "shape": ((4096, [8192, 3]), (4, [8, 3]))})
        self.assertEqual(_load().kbench_changed, {})

    def test_what_the_files_own_code_changes_is_not_changed_by_sizes(self):
        text = ("n = 4\nn *= 2\nrows = 6\nsizes = []\nfor i in (1, 2):\n    sizes.append(i * 8)\n"
                "table = []\ntable.append({'a': 1})\nshape = [rows, 2]\nshape.append(3)\n"
                "class Model: pass\ndef get_inputs(): return []\n")
        def changed(sizes):
            return problem_host.load("problem.py", text, sizes).kbench_changed

        self.assertEqual(changed({}), {})
        self.assertEqual(changed({"n": "2"}), {}, "a candidate's n = 4 is another number")
        self.assertEqual(changed({"rows": "1 << 1"}),
                         {"rows": (6, 2), "shape": ([6, 2], [2, 2])})

    def test_equal_constants_follow(self):
        self.assertEqual(self.after("rows = 4096\ncolumns: int = 2 * rows\n"),
                         {"rows": 4, "columns": 8})
        self.assertEqual(self.after("rows, columns = 1 << 2, 8192"), {"rows": 4, "columns": 8})
        self.assertEqual(self.after("rows, columns = 4096, 64 * 128"), {"rows": 4, "columns": 8})
        self.assertEqual(self.after("rate = 1 / 2\nshape = (2, 3)"), {"rate": 0.25, "shape": (1, 3)})

    def test_so_does_what_is_made_of_them(self):
        found = self.after("rows = 4096\ntext = f'#define ROWS {rows}'\n"
                           "def size(n=rows):\n    return n\nused = size()\n")
        self.assertEqual((found["text"], found["used"]), ("#define ROWS 4", 4))

    def test_what_stands_under_the_main_guard_does_not_run(self):
        for test in ("__name__ == '__main__'", "'__main__' == __name__"):
            self.assertEqual(self.after(f"rows = 4096\nif {test}:\n    rows = 4096\n"), {"rows": 4})
        self.assertEqual(self.after("rows = 4096\nif __name__ == '__main__':\n    pass\n"
                                    "else:\n    rows = 4096\n"), {"rows": 4096})

    def test_many_constants_take_no_long(self):
        tree = ast.parse("".join(f"n{i} = {i}\n" for i in range(20000)))
        before = time.process_time()
        problem_names.follow(tree, self.changes)
        self.assertLess(time.process_time() - before, 2)

    def test_a_deep_expression_hides_no_other_constant(self):
        tree = ast.parse("text = " + " + ".join(["'a'"] * 1200) + "\nrows = 4096\n")
        self.assertEqual(problem_names.follow(tree, self.changes), ["rows"])

    def test_others_stay(self):
        for text in ("rows = 4095", "rows = 4096.0", "rows = '4096'", "ROWS = 4096",
                     "rows = 4096\nrows = 4096", "rows = 4096\nrows += 0", "rows = int(4096)",
                     "if True:\n    rows = 4096", "rows = other = 4096", "shape = [2, 3]",
                     "rows = 4096\ndef change():\n    global rows\n    rows = 1\n",
                     "class A:\n    rows = 4096", "text = 'rows = 4096'"):
            names = {}
            exec(text, names)
            found = self.after(text)
            for name, value in found.items():
                if not callable(value):
                    self.assertEqual(value, names[name], text)
            if "A" in found:
                self.assertEqual(found["A"].rows, 4096)

    def test_what_takes_long_to_work_out_is_left(self):
        problem_names.follow(ast.parse("rows = 9 ** 9 ** 9 ** 9"), self.changes)
        problem_names.follow(ast.parse("rows = 'a' * 10 ** 12"), self.changes)
        problem_names.follow(ast.parse("rows = 1 / 0"), self.changes)


class InACandidate(unittest.TestCase):
    def load(self, text, sizes):
        import tempfile
        problem = _load(sizes)
        with tempfile.TemporaryDirectory() as folder:
            return module_host.load_candidate("mine.py", text.encode(), folder, None,
                                              problem.kbench_given, problem.kbench_changed)

    def test_its_own_names_win(self):
        module = self.load("class ModelNew(nn.Module):\n    rows = rows\nlow = 9\n", {"rows": "4"})
        self.assertEqual((module.ModelNew.rows, module.low, module.high), (4, 9, 1e-3))

    def test_lines_stay_where_they_are(self):
        module = self.load("\n\nrows = 4096\n\nclass ModelNew(nn.Module):\n"
                           "    def forward(self):\n        return rows\n", {"rows": "4"})
        self.assertEqual(module.ModelNew.forward.__code__.co_firstlineno, 6)
        self.assertEqual(module.ModelNew().forward(), 4)

    def test_a_syntax_tree_that_is_too_deep_is_compiled_as_text(self):
        module = self.load("text = " + " + ".join(["'a'"] * 1200) + "\nrows = 4096\n"
                           "class ModelNew(nn.Module):\n    pass\n", {"rows": "4"})
        self.assertEqual((module.text, module.rows), ("a" * 1200, 4096))

    def test_text_that_is_too_deep_is_no_python(self):
        text = "x = " + " + ".join(["'a'"] * 20000)
        for sizes in ({}, {"rows": "4"}):
            with self.assertRaises(module_host.CandidateFailure) as caught:
                self.load(text, sizes)
            self.assertEqual(caught.exception.cause, "import_failed")

    def test_nothing_of_the_reference_is_there(self):
        module = self.load("class ModelNew(nn.Module):\n    pass\n", {})
        for name in ("Model", "get_inputs", "helper", "kbench_given", "hidden"):
            self.assertFalse(hasattr(module, name), name)


if __name__ == "__main__":
    unittest.main()

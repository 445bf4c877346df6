# SPDX-License-Identifier: MIT
"""Tests what a candidate's process gets of its problem, and what it does not."""

import collections
import unittest

import torch
import worker_package  # noqa: F401 (makes the worker's files the package kbench_worker)

from kbench_worker import problem_host, problem_values

_PROBLEM = """
import math
import collections.abc
import torch.nn.functional as F
from collections import OrderedDict as Ordered
try:
    import no_such_package as optional
except ImportError:
    optional = None
import torch

SECRET_OF_THE_FILE = "text"
rows = 4096
table = {'a': (1, 2.0), 'kind': torch.float16}
hidden = torch.ones(3)


class Config:
    def __init__(self):
        self.width = rows
        self.inner = [torch.full((2,), 7.0)]

    def doubled(self):
        return 2 * self.width


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def helper():
    return 3


def get_inputs():
    return [torch.rand(rows, 2), 5]


def get_init_inputs():
    return INIT
"""


def _problem(init="[]", sizes=None, more=""):
    text = _PROBLEM.replace("INIT", init) + more
    return problem_host.load("/a/path/of/problem.py", text, sizes or {})


def _given(problem, precision="native"):
    return problem_values.Given(problem_values.pack(problem, precision))


def _sent(init, seed=3):
    data, is_whole = problem_values.pack_init_arguments(_problem(init), "cpu", "native", seed)
    return problem_values.unpack_list(data), is_whole


class Names(unittest.TestCase):

    def test_constants_and_imports_are_there(self):
        given = _given(_problem(sizes={"rows": "4"}))
        self.assertEqual(given.names["rows"], 4)
        self.assertEqual(given.names["table"], {"a": (1, 2.0), "kind": torch.float16})
        self.assertIs(given.names["F"], torch.nn.functional)
        self.assertIs(given.names["Ordered"], collections.OrderedDict)
        self.assertIs(given.names["collections"], collections)
        self.assertIsNone(given.names.get("optional"))
        self.assertEqual(given.changed, {"rows": (4096, 4)})

    def test_nothing_else_is(self):
        names = _given(_problem()).names
        for name in ("Model", "Config", "helper", "get_inputs", "get_init_inputs", "hidden"):
            self.assertNotIn(name, names)

    def test_no_text_and_no_path_is_sent(self):
        data = problem_values.pack(_problem("[Config()]"), "native")
        for text in (b"def forward", b"get_inputs", b"x + 1", b"/a/path", b"kbench_problem"):
            self.assertNotIn(text, data)

    def test_a_process_without_values_has_none(self):
        given = problem_values.Given(b"")
        self.assertEqual((given.names, given.changed), ({}, {}))
        self.assertIsNone(problem_values.init_arguments_of(given))

    def test_global_state_follows_where_the_file_sets_it(self):
        data = problem_values.pack(_problem(more="torch.set_default_dtype(torch.float64)\n"), "native")
        torch.set_default_dtype(torch.float32)
        try:
            problem_values.Given(data)
            self.assertEqual(torch.get_default_dtype(), torch.float64)
        finally:
            torch.set_default_dtype(torch.float32)


class InitArguments(unittest.TestCase):

    def test_plain_values_and_nested_ones(self):
        values, is_whole = _sent("[rows, 2.5, 'relu', None, [1, (2, {'a': [3]})], math.inf]")
        self.assertTrue(is_whole)
        self.assertEqual(values, [4096, 2.5, "relu", None, [1, (2, {"a": [3]})], float("inf")])

    def test_a_list_is_not_needed(self):
        self.assertEqual(_sent("(1, 2)"), ([1, 2], True))
        self.assertEqual(_sent("7"), ([7], True))

    def test_tensors_are_those_of_the_seed(self):
        init = "[torch.rand(3), {'deep': [torch.arange(4).half()]}]"
        (first, deep), is_whole = _sent(init, 3)
        self.assertTrue(is_whole)
        torch.testing.assert_close(first, problem_host.init_arguments(
            _problem(init), "cpu", "native", 3)[0], rtol=0, atol=0)
        self.assertEqual(deep["deep"][0].dtype, torch.float16)
        self.assertFalse(torch.equal(first, _sent(init, 4)[0][0]))

    def test_one_object_stays_one(self):
        values, _ = _sent("(lambda t: [t, {'again': t}])(torch.zeros(3))")
        self.assertIs(values[0], values[1]["again"])

    def test_objects_of_libraries(self):
        values, is_whole = _sent("[torch.nn.Linear(2, 3), torch.nn.ReLU, torch.relu, F, F.gelu]")
        self.assertTrue(is_whole)
        self.assertEqual(values[0].weight.shape, (3, 2))
        self.assertIs(values[1], torch.nn.ReLU)
        self.assertIs(values[3], torch.nn.functional)

    def test_an_object_of_the_file_keeps_its_attributes_alone(self):
        (config,), is_whole = _sent("[Config()]")
        self.assertFalse(is_whole)
        self.assertEqual((config.width, type(config).__name__), (4096, "Config"))
        self.assertEqual(config.inner[0].tolist(), [7, 7])
        self.assertFalse(hasattr(config, "doubled"))

    def test_collections_and_enums_of_the_file(self):
        more = ("\nimport enum\nfrom collections import namedtuple\n"
                "Pair = namedtuple('Pair', 'a b')\n"
                "class Many(list): pass\n"
                "class Kind(enum.Enum):\n    ONE = 1\n"
                "class Slots:\n    __slots__ = ('side',)\n"
                "def slots():\n    s = Slots()\n    s.side = 4\n    return s\n")
        problem = _problem("[Pair(1, 2), Many([1, 2]), Kind.ONE, slots()]", more=more)
        data, is_whole = problem_values.pack_init_arguments(problem, "cpu", "native", 0)
        pair, many, kind, slots = problem_values.unpack_list(data)
        self.assertFalse(is_whole)
        self.assertEqual((pair.a, pair[1], many, kind.name, kind.value, slots.side),
                         (1, 2, [1, 2], "ONE", 1, 4))

    def test_code_of_the_file_is_left_out(self):
        for value in ("helper", "Model", "Model()", "lambda x: x", "Config().doubled",
                      "__import__('threading').Lock()"):
            values, is_whole = _sent(f"[1, {value}, 'after']")
            self.assertEqual((values, is_whole), ([1, None, "after"], False), value)

    def test_so_is_what_is_made_of_it(self):
        values, is_whole = _sent("[1, __import__('functools').partial(helper, 2)]")
        self.assertEqual((values, is_whole), ([1, None], False))


class DryImports(unittest.TestCase):

    def test_inputs_are_shapes(self):
        given = _given(_problem(sizes={"rows": "8"}))
        empty = torch.empty
        try:
            torch.empty = lambda shape, dtype, device: empty(shape, dtype=dtype, device="meta")
            first, number = given.inputs_as_shapes()
        finally:
            torch.empty = empty
        self.assertEqual((tuple(first.shape), first.device.type, number), ((8, 2), "meta", 5))

    def test_init_arguments_are_those_of_seed_0(self):
        self.assertEqual(problem_values.init_arguments_of(_given(_problem("[rows]"))), [4096])

    def test_a_problem_that_cannot_be_asked_has_none(self):
        given = _given(_problem("1 / 0"))
        self.assertIsNone(problem_values.init_arguments_of(given))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Operators are watched without torch's compiler, which takes seconds to import, and beside it."""

import json
import os
import subprocess
import sys
import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import operator_cost

_PROBLEM = """
import torch

N = 4096


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, 1)


def get_inputs():
    return [torch.rand(N, N)]


def get_init_inputs():
    return []
"""

# Each prints what it found, in another process: here the compiler may have been imported.
_COST = """
from kbench_worker import operator_cost
print(json.loads(operator_cost.counted(torch.relu, torch.ones(6))[1])[0]["bytes"])
"""
_TIES = """
from kbench_worker import ties
model = torch.nn.Module()
model.forward = lambda x: x.argmax(1)
zeros, ones = torch.zeros(3, dtype=int), torch.ones(3, dtype=int)
print(int(ties.settled(model, [torch.zeros(3, 4)], 0, zeros, ones, 0).sum()))
"""
_REDUCE_SIZES = f"""
from kbench_worker import problem_reduce
found = problem_reduce.reduce_sizes("p.py", {_PROBLEM!r}, {{}}, 1 << 20, 1e9)
print(json.loads(found)["sizes"]["N"])
"""


class WithoutTheCompiler(unittest.TestCase):

    def test_costs_ties_and_sizes(self):
        code = "import json, sys, torch, worker_package\n"
        for part in (_COST, _TIES, _REDUCE_SIZES):
            code += part + (
                "assert 'torch._dynamo' not in sys.modules and 'sympy' not in sys.modules\n")
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              cwd=os.path.dirname(os.path.abspath(__file__)), check=True)
        self.assertEqual(done.stdout.split(), ["48", "0", "256"])


class BesideTheCompiler(unittest.TestCase):

    def test_what_a_model_compiles_is_seen_as_it_is_written(self):
        graphs = []

        def backend(graph, _):
            graphs.append(graph)
            return graph.forward

        for calls_before in (1, 0):
            graphs.clear()
            function = torch.compile(lambda x: torch.relu(x) * 2, backend=backend, fullgraph=True)
            for _ in range(calls_before):
                function(torch.ones(6))
            self.assertEqual(len(graphs), calls_before)
            costs = json.loads(operator_cost.counted(function, torch.ones(6))[1])
            self.assertEqual([cost["name"] for cost in costs], ["aten.relu", "aten.mul"])
            self.assertEqual(len(graphs), calls_before)


if __name__ == "__main__":
    unittest.main()

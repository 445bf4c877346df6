# SPDX-License-Identifier: MIT
"""What one call of a reference has to move and to compute at least."""

import json
import textwrap
import unittest

import worker_package  # noqa: F401  makes the package
from kbench_worker import problem_host

_HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {constructor}

    def forward(self, {names}):
        {lines}

def get_inputs():
    return [{inputs}]
"""
FLOAT = 4


def work_of(lines, inputs, constructor="pass", precision="native"):
    names = ", ".join("abcd"[:inputs.count("torch.")])
    source = _HEAD.format(constructor=constructor.replace("\n", "\n        "), names=names,
                          lines=textwrap.dedent(lines).strip().replace("\n", "\n        "),
                          inputs=inputs)
    module = problem_host.load("p.py", source, {})
    return json.loads(problem_host.describe("key", module, precision))["work"]


class Bytes(unittest.TestCase):

    def check(self, work, read, written):
        self.assertEqual((work["read_bytes"], work["written_bytes"]), (read, written))

    def test_inputs_parameters_and_outputs_count_once(self):
        work = work_of("return self.l(a) + a + a", "torch.rand(8, 16)", "self.l = nn.Linear(16, 16)")
        self.check(work, (8 * 16 + 16 * 16 + 16) * FLOAT, 8 * 16 * FLOAT)

    def test_what_is_never_read_counts_nothing(self):
        self.check(work_of("return a * 2", "torch.rand(8), torch.rand(1000)"), 8 * FLOAT, 8 * FLOAT)

    def test_of_a_part_the_part_counts(self):
        self.check(work_of("return a[:, :2] * 2", "torch.rand(8, 16)"), 16 * FLOAT, 16 * FLOAT)
        self.check(work_of("return sum(a[:, i] for i in range(16))", "torch.rand(8, 16)"),
                   8 * 16 * FLOAT, 8 * FLOAT)
        # The same part twice is one.
        self.check(work_of("return a[:, 0] * a[:, 0].exp()", "torch.rand(8, 16)"), 8 * FLOAT,
                   8 * FLOAT)

    def test_of_a_table_what_is_found_counts(self):
        work = work_of("return self.e(a)", "torch.randint(0, 1000, (4,))",
                       "self.e = nn.Embedding(1000, 8)")
        self.check(work, 4 * 8 + 4 * 8 * FLOAT, 4 * 8 * FLOAT)

    def test_what_is_repeated_lies_there_once(self):
        self.check(work_of("return a.expand(100, 8) * 2", "torch.rand(1, 8)"), 8 * FLOAT,
                   800 * FLOAT)

    def test_an_input_that_comes_back_is_not_written(self):
        self.check(work_of("return a.t()", "torch.rand(8, 16)"), 0, 0)

    def test_half_types_have_half_the_bytes(self):
        self.check(work_of("return a * 2", "torch.rand(8)", precision="fp16"), 16, 16)


class Operations(unittest.TestCase):

    def test_products_and_convolutions_have_theirs(self):
        self.assertEqual(work_of("return a @ b", "torch.rand(8, 16), torch.rand(16, 4)")["flops"],
                         {"fp32": 2 * 8 * 16 * 4})
        work = work_of("return F.relu(self.c(a))", "torch.rand(2, 3, 9, 9)",
                       "self.c = nn.Conv2d(3, 5, 3)")
        self.assertEqual(work["flops"], {"fp32": 2 * 2 * 5 * 7 * 7 * 3 * 9})

    def test_the_type_is_that_of_the_row(self):
        for precision, name in (("tf32", "tf32"), ("fp16", "fp16"), ("bf16", "bf16")):
            work = work_of("return a @ a", "torch.rand(8, 8)", precision=precision)
            self.assertEqual(work["flops"], {name: 2 * 8 ** 3})

    def test_layers_with_something_between_them_add_up(self):
        layers = "self.l = nn.Linear(8, 8)\nself.m = nn.Linear(8, 8)"
        for between in ("torch.relu(self.l(a))", "F.relu(self.l(a), inplace=True)",
                        "F.gelu(self.l(a) * 2 + 1)", "F.layer_norm(self.l(a) + a, (8,))"):
            work = work_of(f"return self.m({between})", "torch.rand(4, 8)", layers)
            self.assertEqual(work["flops"], {"fp32": 2 * 2 * 4 * 8 * 8}, between)

    def test_parts_that_are_all_used_are_a_whole(self):
        work = work_of("x, y = self.l(a).chunk(2, -1)\nreturn torch.sigmoid(x) * torch.tanh(y)",
                       "torch.rand(4, 8)", "self.l = nn.Linear(8, 16)")
        self.assertEqual(work["flops"], {"fp32": 2 * 4 * 8 * 16})

    def test_where_the_algebra_collapses_there_is_no_number(self):
        square = "torch.rand(8, 8), torch.rand(8, 8)"
        for line in ("return torch.diag(a[0]) @ b", "return torch.triu(a) @ b",
                     "return torch.tril(a @ b)", "return (a @ b).sum(1)",
                     "return (a @ b / 2).mean()", "return a @ b @ b", "return (a @ b)[:, 0].exp()",
                     "return (a @ b + 1).diagonal()",
                     "return (a @ b).masked_fill(b > 0, 0.0).softmax(-1)",
                     "return (2 * torch.diag(a[0])).t() @ b"):
            self.assertEqual(work_of(line, square)["flops"], {}, line)

    def test_what_has_none_says_so(self):
        self.assertEqual(work_of("return a.exp().sum()", "torch.rand(8)")["flops"], {})


class Failures(unittest.TestCase):

    def test_a_call_that_cannot_be_followed_is_described_all_the_same(self):
        work = work_of("return torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2)).to_dense() + a",
                       "torch.rand(2, 2)")
        self.assertTrue(work is None or work["read_bytes"] == 4 * FLOAT)


if __name__ == "__main__":
    unittest.main()

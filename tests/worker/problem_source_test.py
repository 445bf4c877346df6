# SPDX-License-Identifier: MIT
"""What is told of a problem from its text."""

import ast
import unittest

import worker_package  # noqa: F401  makes the package
from kbench_worker import problem_source

_HEAD = "import math\nimport torch\nimport torch.nn as nn\nfrom typing import List\n"
_MODEL = """
class Model(nn.Module):
    def __init__(self, size):
        super(Model, self).__init__()
        self._size = size
        self.set_up = nn.Linear(size, size)
        self.layers = {}
        self.layers["a"] = 1
    @torch.no_grad()
    def forward(self, x):
        y = torch.zeros_like(x)
        y[0] = torch.nn.functional.relu(x)[0].to(torch.float32)
        return y.cuda() + self._size
"""


class Plain(unittest.TestCase):

    def test_imports(self):
        for text, plain in (("import torch.nn as nn", True), ("from torch import nn", True),
                            ("import numpy as np\nfrom typing import List", True),
                            ("import torch._dynamo", False), ("from torch.fx import wrap", False),
                            ("import einops", False), ("def f():\n    import sympy", False),
                            ("from . import other", False)):
            self.assertEqual(problem_source.is_plain(ast.parse(text)), plain, text)


class Trace(unittest.TestCase):

    def check(self, line, expected):
        found = problem_source.leaves_no_trace(ast.parse(_HEAD + line + _MODEL))
        self.assertEqual(found, expected, line)

    def test_a_usual_problem_leaves_none(self):
        for line in ("", "SIZE = 4", "torch.manual_seed(1)", "x = torch.rand(3)\nx[0] = 1",
                     "nn.Linear(3, 4).weight.data.fill_(1)"):
            self.check(line, True)

    def test_settings_and_replaced_parts_do(self):
        for line in ("torch.set_default_dtype(torch.float16)", "torch.backends.cudnn.enabled = False",
                     "torch.use_deterministic_algorithms(True)", "nn.Linear.forward = None",
                     "torch.rand = torch.zeros", "from torch import set_default_device",
                     "from torch import *", "setattr(torch, 'rand', None)", "exec('1')",
                     "getattr(torch, 'set_' + 'x')", "f = torch.compile(len)", "import os",
                     "torch.nn.functional.__dict__", "del torch.rand", "nn.x[0] = 1",
                     "torch.cuda.set_device(0)", "torch.e, y = 1, 2",
                     "for torch.pi in range(3): pass", "def f():\n    torch.inf += 1"):
            self.check(line, False)


if __name__ == "__main__":
    unittest.main()

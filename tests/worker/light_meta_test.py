# SPDX-License-Identifier: MIT
"""A problem is described without torch's compiler, as it is described with it."""

import subprocess
import sys
import textwrap
import unittest

import worker_package  # noqa: F401  makes the package
from kbench_worker import problem_host

_HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

# (forward, constructor, inputs): operators that ask the compiler's modules for different things.
_PROBLEMS = {
    "matmul": ("a @ b", "", "torch.rand(8, 4), torch.rand(4, 2)"),
    "scalar": ("F.leaky_relu(a, 0.1) * 2 + 1", "", "torch.rand(8, 4)"),
    "convolution": ("self.c(a)", "self.c = nn.Conv2d(3, 5, 3, stride=2)", "torch.rand(2, 3, 9, 9)"),
    "transposed": ("self.c(a)", "self.c = nn.ConvTranspose3d(3, 5, 3)", "torch.rand(2, 3, 4, 4, 4)"),
    "norms": ("self.g(self.b(a))", "self.g = nn.GroupNorm(2, 4)\n        self.b = nn.BatchNorm1d(4)",
              "torch.rand(6, 4, 5)"),
    "reductions": ("a.cumsum(1), a.argmax(1), torch.logsumexp(a, dim=(0, 2))", "",
                   "torch.rand(3, 4, 5)"),
    "pooling": ("F.adaptive_avg_pool2d(F.max_pool2d(a, 2), 1)", "", "torch.rand(2, 3, 8, 8)"),
    "attention": ("F.scaled_dot_product_attention(a, a, a)", "", "torch.rand(2, 2, 8, 16)"),
    "recurrent": ("self.g(a)[0]", "self.g = nn.GRU(4, 6)", "torch.rand(3, 2, 4)"),
    "losses": ("F.cross_entropy(a, b) + F.cosine_similarity(a, a).mean()", "",
               "torch.rand(3, 4), torch.randint(0, 4, (3,))"),
    "views": ("a.permute(1, 0, 2).reshape(-1).unfold(0, 2, 2).repeat(2, 1)", "",
              "torch.rand(2, 2, 3)"),
}


def problem(forward, constructor, inputs):
    names = "a, b" if inputs.count("rand") > 1 else "a"
    return _HEAD + textwrap.dedent(f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {constructor or "pass"}
    def forward(self, {names}):
        return {forward}
def get_inputs():
    return [{inputs}]
""")


def described(source, plain):
    module = problem_host.load("p.py", source, {})
    if not plain:
        module.kbench_is_plain = False
    return problem_host.describe("key", module, "native")


class Light(unittest.TestCase):

    def test_it_says_the_same_and_imports_nothing(self):
        # A process of its own: here the compiler may be there already.
        lines = ["import sys", f"sys.path[:0] = {sys.path!r}", "import light_meta_test as t"]
        lines += [f"t.described(t.problem(*t._PROBLEMS[{name!r}]), True)" for name in _PROBLEMS]
        lines += ["print([m for m in sys.modules if m.startswith(('torch._dynamo', 'sympy'))])"]
        seen = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True,
                              text=True, check=True)
        self.assertEqual(seen.stdout.strip(), "[]", seen.stderr)
        for name, parts in _PROBLEMS.items():
            with self.subTest(name):
                self.assertEqual(described(problem(*parts), True), described(problem(*parts), False))

    def test_what_it_cannot_do_is_done_with_the_compiler(self):
        # The value of a tensor is needed: neither way of meta tensors has it.
        self.assertIn('"shape": [4]', described(problem("a[:int(a.numel() // 2)] * a.sum().item()",
                                                        "", "torch.rand(8)"), True))

    def test_nothing_of_it_stays(self):
        code = ("import worker_package, sys, torch\nfrom kbench_worker import light_meta\n"
                "with light_meta.without_compiler():\n"
                "    import sympy\n    assert not hasattr(sympy, 'Symbol')\n"
                "assert 'sympy' not in sys.modules\nimport sympy\nsympy.Symbol\n"
                "import torch._dynamo\ntorch._dynamo.config\n")
        subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n" + code],
                       check=True)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Which sizes are found for problems that are too large, and which constants stay as they are."""

import json
import textwrap
import unittest

import torch

import module_fixture  # noqa: F401  makes the package
from kbench_worker import problem_host, problem_reduce

MIB = 1 << 20
_HEAD = "import torch\nimport torch.nn as nn\n"


def reduce_sizes(source, sizes=None, max_bytes=MIB, max_flops=1e6):
    text = _HEAD + textwrap.dedent(source)
    return json.loads(problem_reduce.reduce_sizes("p.py", text, sizes or {}, max_bytes, max_flops))


def problem(constants, inputs, forward="x * 2", init="", arguments="[]", parameters="x"):
    """A problem of these constants; `init` is what its constructor does."""
    return f"""
class Model(nn.Module):
    def __init__(self, *arguments):
        super().__init__()
        {init or "pass"}
    def forward(self, {parameters}):
        return {forward}
{constants}
def get_inputs():
    return [{inputs}]
def get_init_inputs():
    return {arguments}
"""


class Sizes(unittest.TestCase):

    def test_a_problem_within_the_limits_is_left_alone(self):
        found = reduce_sizes(problem("N = 64", "torch.rand(N, N)"))
        self.assertEqual(found, {"sizes": {}, "reduced_sizes": None})

    def test_the_largest_constant_goes_first(self):
        found = reduce_sizes(problem("batch = 128\ndim = 16384", "torch.rand(batch, dim)"))
        # 2 (input, output) x 4 bytes x 128 x 1024 = 1 MiB
        self.assertEqual(found["sizes"], {"dim": "1024"})
        self.assertEqual(found["reduced_sizes"], {"bytes": MIB, "flops": 128 * 1024, "within": True,
                                           "full_bytes": 16 * MIB, "full_flops": 128 * 16384})

    def test_operations_count_where_bytes_would_do(self):
        found = reduce_sizes(problem("N = 256", "torch.rand(N, N)", "x @ x"))
        self.assertEqual(found["sizes"], {"N": "64"})
        self.assertEqual(found["reduced_sizes"]["flops"], 2 * 64 ** 3)

    def test_parameters_count(self):
        found = reduce_sizes(problem("features = 1024", "torch.rand(1, features)", "self.fc(x)",
                               "self.fc = nn.Linear(arguments[0], arguments[0])", "[features]"))
        self.assertEqual(found["sizes"], {"features": "256"})

    def test_what_was_set_stays(self):
        found = reduce_sizes(problem("batch = 128\ndim = 16384", "torch.rand(batch, dim)"),
                       {"dim": "32768"})
        self.assertEqual(found["sizes"], {"batch": "4", "dim": "32768"})

    def test_constants_that_follow_from_others_follow(self):
        found = reduce_sizes(problem("a = 1024\nb = a * 2", "torch.rand(a, b)"))
        self.assertEqual(found["sizes"], {"a": "256"})

    def test_expressions_of_numbers(self):
        found = reduce_sizes(problem("N = 1024 * 2", "torch.rand(N, 1024)"))
        self.assertEqual(found["sizes"], {"N": "128"})

    def test_elements_of_lists_and_tuples(self):
        found = reduce_sizes(problem("batch = 4\nshape = (batch, 3, 512, 512)", "torch.rand(shape)"))
        self.assertEqual(found["sizes"], {"shape": "(batch, 3, 64, 128)"})
        found = reduce_sizes(problem("layers = [4096] * 2", "torch.rand(layers)"))
        self.assertEqual(found["sizes"], {"layers": "[256] * 2"})

    def test_several_constants_in_one_assignment(self):
        found = reduce_sizes(problem("D, H, W = (16, 512, 512)", "torch.rand(D, H, W)"))
        self.assertEqual(found["sizes"], {"H": "64", "W": "128"})
        found = reduce_sizes(problem("H = W = 2048", "torch.rand(H, W)"))
        self.assertEqual(found["sizes"], {"H": "256"})


class Undone(unittest.TestCase):

    def test_a_size_at_which_the_problem_breaks(self):
        # 96 channels in 64 groups would not divide.
        found = reduce_sizes(problem("channels = 192\nbatch = 64\ngroups = 64",
                               "torch.rand(batch, channels, 64)", "self.norm(x)",
                               "self.norm = nn.GroupNorm(*arguments)", "[groups, channels]"))
        self.assertEqual(found["sizes"], {"batch": "8"})

    def test_a_size_that_hardly_matters(self):
        found = reduce_sizes(problem("seed = 1000000\nclasses = 100000\nbatch = 4096",
                               "torch.rand(batch, 1024)", "x.sum() + classes"))
        self.assertEqual(found["sizes"], {"batch": "128"})

    def test_a_size_whose_half_costs_more(self):
        # The stride is the largest, and half of it gives twice the output.
        found = reduce_sizes(problem("stride = 4096\nlength = 2048\nbatch = 512",
                               "torch.rand(batch, length)", "x.repeat(1, 8192 // stride)"))
        self.assertNotIn("stride", found["sizes"])
        self.assertTrue(found["reduced_sizes"]["within"])

    def test_sizes_that_have_to_agree_go_together(self):
        found = reduce_sizes(problem("a = 2048\nb = 2048", "torch.rand(a, a), torch.rand(b)",
                               "x * y", parameters="x, y"))
        self.assertEqual(found["sizes"], {"a": "256", "b": "256"})

    def test_what_cannot_be_small_enough_is_as_small_as_it_gets(self):
        found = reduce_sizes(problem("batch = 8", "torch.rand(batch, 2048)", "self.fc(x)",
                               "self.fc = nn.Linear(2048, 2048)"))
        self.assertEqual(found["sizes"], {"batch": "1"})
        self.assertFalse(found["reduced_sizes"]["within"])

    def test_no_constants_at_all(self):
        found = reduce_sizes(problem("", "torch.rand(2048, 2048)"))
        self.assertEqual(found["sizes"], {})
        self.assertEqual(found["reduced_sizes"]["bytes"], 32 * MIB)


class Ways(unittest.TestCase):
    """References that the meta device cannot run."""

    def test_a_constructor_that_looks_at_values(self):
        found = reduce_sizes(problem("N = 4096", "torch.rand(N, 64)",
                               init="self.rates = [r.item() for r in torch.linspace(0, 1, 3)]"))
        self.assertEqual(found["sizes"], {"N": "2048"})
        self.assertEqual(found["reduced_sizes"]["flops"], 2048 * 64)

    def test_a_forward_that_looks_at_values(self):
        # Its outputs cannot be known, so bytes of inputs alone decide.
        found = reduce_sizes(problem("N = 8192", "torch.rand(N, 64)", "x[x > 0.5] if x.max() > 2 else x"))
        self.assertEqual(found["sizes"], {"N": "4096"})
        self.assertEqual(found["reduced_sizes"]["bytes"], MIB)

    def test_a_forward_that_raises_at_any_sizes_is_told(self):
        with self.assertRaises(RuntimeError):
            reduce_sizes(problem("a = 8192\nb = 4096", "torch.rand(a, 64), torch.rand(b, 64)",
                           "(x[::2] @ y) if x.max() > 0 else x", parameters="x, y"))

    def test_halvings_after_which_the_reference_raises_are_undone(self):
        # Of inputs alone a may be 1024 and b 2048.
        found = reduce_sizes(problem("a = 8192\nb = 4096", "torch.rand(a, 64), torch.rand(b, 64)",
                               "(x[::2] + y) if x.max() > 0 else x", parameters="x, y"))
        self.assertEqual(found["sizes"], {})
        self.assertFalse(found["reduced_sizes"]["within"])

    def test_others_are_halved_in_their_place(self):
        # On meta a window may be larger than what it is laid over.
        found = reduce_sizes(problem("side = 256\nbatch = 64", "torch.rand(batch, side, 8)",
                               "window(x)", init="pass") + """
WINDOW = torch.ones(100, 1)
def window(x):
    if x.device.type == "meta":
        return x
    return torch.stack([x[:, i] * WINDOW[i] for i in range(100)])
""", max_bytes=MIB // 4)
        self.assertEqual(found["sizes"], {"side": "128", "batch": "32"})
        self.assertTrue(found["reduced_sizes"]["within"])

    def test_recurrent_layers_are_counted_by_one_step(self):
        source = problem("steps = 32\nfeatures = 8", "torch.rand(steps, 2, features)",
                         "self.rnn(x)[0]",
                         "self.rnn = nn.{}(8, 16, 2, bidirectional=True)")
        for layer in ("LSTM", "GRU", "RNN"):
            with self.subTest(layer):
                text = _HEAD + source.replace("{}", layer)
                module = problem_host.load("p.py", text, {})
                model = problem_host.build_model(module, "meta", "native", 0, redraw=False)
                inputs = problem_host.draw_inputs(module, "meta", "native", 0)
                with problem_reduce._Work() as whole:
                    outputs = problem_host.forward(model, inputs)
                work = problem_reduce._Work()
                with work, problem_reduce._OneStep(work):
                    same = problem_host.forward(model, inputs)
                self.assertEqual(same[0].shape, outputs[0].shape)
                self.assertAlmostEqual(work.flops / whole.flops, 1, delta=0.1)

    def test_faults_of_the_problem_are_its_own(self):
        with self.assertRaises(problem_host.ProblemFailure):
            reduce_sizes("N = (\n")
        with self.assertRaises(ZeroDivisionError):
            reduce_sizes(problem("N = 4", "torch.rand(N // 0)"))


class Load(unittest.TestCase):

    def test_sizes_reach_each_form_of_constant(self):
        text = _HEAD + problem("a = b = 2\nD, (E, F), H = (1, (2, 3), 4)\nn: int = 5\nm = n * D",
                               "torch.rand(2)")
        module = problem_host.load("p.py", text, {"b": "7", "D": "8", "H": "[9]", "n": "10"})
        self.assertEqual((module.a, module.b, module.D, module.E, module.H, module.m),
                         (7, 7, 8, 2, [9], 80))
        with self.assertRaisesRegex(problem_host.ProblemFailure, "no module-level constant E"):
            problem_host.load("p.py", text, {"E": "1"})


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()

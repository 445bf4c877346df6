# SPDX-License-Identifier: MIT
"""KernelBench's rules: what is drawn under them, checked against torch itself."""

import textwrap
import types
import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import kernelbench_rules, problem_host

_ON_CPU = "cpu"


def _problem(source):
    module = types.ModuleType("problem")
    exec("import torch\nfrom torch import nn\n" + textwrap.dedent(source), module.__dict__)
    return module


_LINEAR = """
    class Model(nn.Module):
        def __init__(self, scale, plain=2):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(4, 3, dtype=torch.float64) * scale)
            self.bias = nn.Parameter(torch.zeros(4))

        def forward(self, x, index, plain):
            return x @ self.weight.t() + self.bias + index.unsqueeze(1)

    def get_inputs():
        return [torch.randn(5, 3), torch.randint(0, 9, (5,)), 0.5]

    def get_init_inputs():
        return [torch.rand(3), 2]
"""

_TWO_OUTPUTS = """
    class Model(nn.Module):
        def forward(self, x):
            return x, x + 1

    def get_inputs():
        return [torch.randn(5)]
"""


class Draws(unittest.TestCase):
    def test_seeds_of_trials_come_from_one(self):
        generator = torch.Generator().manual_seed(42)
        expected = [torch.randint(0, 2**32 - 1, (1,), generator=generator).item()
                    for _ in range(7)]
        self.assertEqual(kernelbench_rules.trial_seeds(7), expected + [42])
        # A run of fewer trials has the first of them; the numbers are torch's for good.
        self.assertEqual(kernelbench_rules.trial_seeds(2), [734796314, 576165995, 42])

    def test_inputs_are_the_cpu_generators_and_all_cast(self):
        problem = _problem(_LINEAR)
        for precision, dtype in (("kb_fp32", torch.float32), ("kb_fp16", torch.float16),
                                 ("kb_bf16", torch.bfloat16)):
            x, index, plain = problem_host.draw_inputs(problem, _ON_CPU, precision, 77)
            torch.manual_seed(77)
            self.assertTrue(torch.equal(x, torch.randn(5, 3).to(dtype)))
            self.assertTrue(torch.equal(index, torch.randint(0, 9, (5,)).to(dtype)))
            self.assertEqual((index.dtype, plain), (dtype, 0.5))

    def test_calls_start_where_the_trials_seed_puts_them(self):
        problem_host.draw_inputs(_problem(_LINEAR), _ON_CPU, "kb_fp32", 77)
        drawn = torch.rand(3)
        torch.manual_seed(77)
        self.assertTrue(torch.equal(drawn, torch.rand(3)))

    def test_models_are_drawn_under_the_seed_and_keep_their_constants(self):
        problem = _problem(_LINEAR)
        arguments = kernelbench_rules.init_arguments(problem, _ON_CPU, "kb_fp16")
        torch.manual_seed(42)
        self.assertTrue(torch.equal(arguments[0], torch.rand(3).half()))
        self.assertEqual(arguments[1], 2)
        torch.rand(100)  # whatever was drawn before does not matter
        model = problem_host.build_model(problem, _ON_CPU, "kb_fp16", 5)
        torch.manual_seed(42)
        weight = (torch.rand(4, 3, dtype=torch.float64) * arguments[0]).half()
        self.assertTrue(torch.equal(model.weight, weight))
        self.assertTrue(torch.equal(model.bias, torch.zeros(4).half()))
        self.assertTrue(model.weight.requires_grad)

    def test_a_signature_is_made_without_data(self):
        problem = _problem(_LINEAR.replace("[torch.rand(3), 2]", "[2.0]"))
        signature = problem_host.describe("p", problem, "kb_bf16")
        self.assertIn('{"name": "index", "dtype": "bfloat16", "shape": [5]}', signature)

    def test_a_reference_of_several_outputs_has_no_right_candidate(self):
        problem = _problem(_TWO_OUTPUTS)
        with self.assertRaises(problem_host.ProblemFailure) as caught:
            problem_host.describe("p", problem, "kb_fp32")
        self.assertEqual(caught.exception.cause, "several_outputs")
        problem_host.describe("p", problem, "native")


class State(unittest.TestCase):
    def test_generators_go_on_where_another_process_left_them(self):
        torch.manual_seed(3)
        torch.rand(11)
        state = kernelbench_rules.random_state(_ON_CPU)
        drawn = torch.rand(5)
        torch.manual_seed(4)
        kernelbench_rules.set_random_state(state, _ON_CPU)
        self.assertTrue(torch.equal(torch.rand(5), drawn))

    def test_math_modes_go_from_process_to_process(self):
        self.addCleanup(kernelbench_rules.set_math_modes, kernelbench_rules.math_modes())
        problem_host.set_precision("kb_fp32")
        self.assertEqual(kernelbench_rules.math_modes(), kernelbench_rules.DEFAULT_MODES)
        for modes in range(8):
            kernelbench_rules.set_math_modes(modes)
            self.assertEqual(kernelbench_rules.math_modes(), modes)
            self.assertEqual(torch.backends.cuda.matmul.allow_tf32, bool(modes & 1))


class Times(unittest.TestCase):
    def test_warm_ups_are_not_among_them_and_gradients_are_on(self):
        calls = []

        def model(x):
            calls.append(torch.is_grad_enabled())
            return x

        times = kernelbench_rules.time_calls(model, [1], _ON_CPU, 4)
        self.assertEqual((len(times), calls), (4, [True] * 7))
        self.assertTrue(all(ms > 0 for ms in times))


if __name__ == "__main__":
    unittest.main()

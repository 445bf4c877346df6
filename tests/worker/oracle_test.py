# SPDX-License-Identifier: MIT
"""The reference in double precision, and what it leaves as it was."""

import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import oracle  # noqa: E402  needs the package


class Model(torch.nn.Module):
    """A model of one function."""

    def __init__(self, function):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([0.1]), requires_grad=False)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("sum", torch.zeros(1))
        self.function = function

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Oracle(unittest.TestCase):

    def outputs(self, function, *inputs):
        return oracle.outputs(Model(function), list(inputs))

    def test_is_in_double_precision(self):
        x = torch.full((3,), 1 / 3)
        y, = self.outputs(lambda self, x: x * self.weight + 1e-12, x)
        self.assertEqual(y.dtype, torch.float64)
        self.assertEqual(y[0].item(), x[0].item() * torch.tensor(0.1).item() + 1e-12)

    def test_integers_and_plain_values_stay(self):
        y, = self.outputs(lambda self, i, n, xs: i * n + xs[0].long(), torch.tensor([2]), 3,
                          [torch.ones(1)])
        self.assertEqual((y.dtype, y.item()), (torch.int64, 7))

    def test_changes_nothing(self):
        def writing(self, x):
            self.count += 1
            self.sum += x.sum()
            x.mul_(2)
            return x + torch.rand(x.shape)

        model, x = Model(writing), torch.ones(4)
        torch.manual_seed(3)
        self.assertIsNotNone(oracle.outputs(model, [x]))
        self.assertEqual((model.count.item(), model.sum.item()), (0, 0))
        self.assertTrue(torch.equal(x, torch.ones(4)))
        self.assertEqual(model.weight.dtype, torch.float32)
        self.assertEqual(torch.get_default_dtype(), torch.float32)
        drawn = torch.rand(2)
        torch.manual_seed(3)
        self.assertTrue(torch.equal(drawn, torch.rand(2)))

    def test_what_forward_makes_is_double_too(self):
        lstm = torch.nn.LSTM(3, 4)
        for parameter in lstm.parameters():
            parameter.requires_grad_(False)
        hidden = lambda self, x: lstm.double()(x, (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)))[0]
        y, = self.outputs(hidden, torch.ones(5, 2, 3))
        self.assertEqual(y.dtype, torch.float64)

    def test_none_where_there_is_no_such_path(self):
        def raises(self, x):
            if x.dtype == torch.float64:
                raise NotImplementedError("no double here")
            return x

        self.assertIsNone(self.outputs(raises, torch.ones(1)))
        self.assertIsNone(self.outputs(lambda self, x: torch.ones(1, dtype=torch.float32)
                                       @ x, torch.ones(1)))
        self.assertIsNone(self.outputs(lambda self, x: "words", torch.ones(1)))
        self.assertEqual(torch.get_default_dtype(), torch.float32)

    def half(self, function, *inputs):
        return oracle.half_outputs(Model(function), list(inputs))

    def test_half_precision_is_the_next_lower_type(self):
        def double(self, x):
            return x * 2

        (y,), why = self.half(double, torch.full((3,), 1 / 3))
        self.assertEqual((y.dtype, why), (torch.float16, ""))
        none, why = self.half(double, torch.full((3,), 1 / 3).bfloat16())  # the weights are fp32
        self.assertIsNone(none)
        model = Model(double).half()
        (y,), _ = oracle.half_outputs(model, [torch.ones(3).half()])
        self.assertEqual(y.dtype, torch.bfloat16)
        none, why = oracle.half_outputs(Model(double).bfloat16(), [torch.ones(3).bfloat16()])
        self.assertIsNone(none)
        self.assertIn("no type is narrower than torch.bfloat16", why)

    def test_half_precision_that_cannot_be_had_says_why(self):
        def strict(self, x):
            if x.dtype != torch.float32:
                raise TypeError("fp32 alone")
            return x

        none, why = self.half(strict, torch.ones(3))
        self.assertIsNone(none)
        self.assertIn("TypeError: fp32 alone", why)


if __name__ == "__main__":
    unittest.main()

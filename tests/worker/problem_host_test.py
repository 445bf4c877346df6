# SPDX-License-Identifier: MIT
"""What a problem's description says of tensors that kbench cannot hand to candidates."""

import json
import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import problem_host

_SOURCE = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {state}
    def forward(self, x):
        return {result}
def get_inputs():
    return [{x}]
"""


def described(result, x="torch.randn(3, 8)", state="pass"):
    source = _SOURCE.format(result=result, x=x, state=state)
    module = problem_host.load("1_Mine.py", source, {})
    return json.loads(problem_host.describe("1_Mine", module, "native"))


class ElementTypes(unittest.TestCase):

    def failure(self, *parts, **named):
        with self.assertRaises(problem_host.ProblemFailure) as caught:
            described(*parts, **named)
        self.assertEqual(caught.exception.cause, "unsupported_dtype")
        return str(caught.exception)

    def test_complex_ones_are_named(self):
        self.assertEqual(self.failure("x, torch.fft.rfft(x)"),
                         "the output 1 is complex64: complex tensors are not supported")
        self.assertEqual(self.failure("x.real", "torch.randn(3, dtype=torch.complex128)"),
                         "the input x is complex128: complex tensors are not supported")
        state = "self.register_buffer('turns', torch.ones(2, dtype=torch.complex64))"
        self.assertEqual(self.failure("x", state=state),
                         "the state turns is complex64: complex tensors are not supported")

    def test_so_are_others(self):
        self.assertEqual(self.failure("x.to(torch.float8_e4m3fn)"), "the output 0 is "
                         "float8_e4m3fn: tensors of that type are not supported")

    def test_inside_they_may_be(self):
        outputs = described("torch.fft.irfft(torch.fft.rfft(x) * 2)")["outputs"]
        self.assertEqual([(item["dtype"], item["shape"]) for item in outputs],
                         [("float32", [3, 8])])

    def test_all_others_are_told(self):
        for name in problem_host._DTYPES:
            outputs = described(f"x.to(torch.{name})")["outputs"]
            self.assertEqual(outputs[0]["dtype"], name)
            self.assertIsInstance(getattr(torch, name), torch.dtype)


if __name__ == "__main__":
    unittest.main()

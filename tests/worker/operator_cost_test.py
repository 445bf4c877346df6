# SPDX-License-Identifier: MIT
"""How many numbers the operators of a reference add up for one element."""

import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import operator_cost


class AddedUp(unittest.TestCase):

    def check(self, call, *shapes, numbers):
        self.assertEqual(operator_cost.added_up(call, *[torch.rand(shape) for shape in shapes]),
                         numbers)

    def test_what_goes_element_by_element_adds_nothing_up(self):
        self.check(lambda a, b: torch.relu(a * b.t()) + 1, (64, 32), (32, 64), numbers=0)

    def test_a_sum_has_what_it_goes_along(self):
        self.check(lambda a: (a * a).sum(1), (8, 1000), numbers=1000)
        self.check(lambda a: torch.softmax(a, dim=-1), (8, 1000), numbers=1000)
        self.check(lambda a: a.mean(), (8, 1000), numbers=8000)
        self.check(lambda a: torch.cumsum(a, 0), (8, 1000), numbers=8)

    def test_a_product_and_a_convolution_have_what_one_element_takes(self):
        self.check(lambda a, b: a @ b, (4, 512), (512, 64), numbers=512)
        self.check(torch.nn.functional.conv2d, (2, 3, 9, 9), (5, 3, 3, 3), numbers=27)

    def test_a_normalization_has_its_groups(self):
        self.check(lambda a: torch.nn.functional.layer_norm(a, (1000,)), (8, 1000), numbers=1000)
        self.check(lambda a: torch.nn.functional.group_norm(a, 2), (4, 6, 50), numbers=150)

    def test_what_follows_adds_to_it(self):
        self.check(lambda a, b: (a @ b).sum(1), (4, 512), (512, 64), numbers=512 + 64)


if __name__ == "__main__":
    unittest.main()

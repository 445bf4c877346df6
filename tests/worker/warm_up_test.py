# SPDX-License-Identifier: MIT
"""What is loaded ahead leaves no trace."""

import unittest

import torch

import worker_package  # noqa: F401  makes the package
from kbench_worker import warm_up


class WarmUp(unittest.TestCase):

    def test_draws_nothing(self):
        for text in (None, "nn.GRU(8, 8) nn.Conv2d nn.Linear"):
            before = torch.get_rng_state()
            warm_up.warm_up("cpu", text)
            self.assertTrue(torch.equal(torch.get_rng_state(), before))


if __name__ == "__main__":
    unittest.main()

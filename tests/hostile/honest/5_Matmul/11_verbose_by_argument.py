# SPDX-License-Identifier: MIT
# Honest: looks at arguments and the environment, for how much it is to say; the product is the
# same. There is a function called benchmark, which nobody calls.
import os
import sys

import torch
import torch.nn as nn

VERBOSE = "--verbose" in sys.argv or os.environ.get("MATMUL_VERBOSE") == "1"


def benchmark(model, a, b, calls=10):
    for _ in range(calls):
        model(a, b)


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if VERBOSE:
            print("matmul", tuple(a.shape), tuple(b.shape))
        return a @ b

# SPDX-License-Identifier: MIT
# Honest: times two ways of its own with the clock and synchronize in the first call, and keeps the
# faster one; reads clocks, and patches nothing.
import time

import torch
import torch.nn as nn


def elapsed_time(way, a, b):
    torch.cuda.synchronize()
    start = time.perf_counter()
    way(a, b)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def as_it_is(a, b):
    return a @ b


def transposed(a, b):
    return (b.t() @ a.t()).t().contiguous()


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.way = None

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if self.way is None:
            self.way = min((as_it_is, transposed), key=lambda way: elapsed_time(way, a, b))
        return self.way(a, b)

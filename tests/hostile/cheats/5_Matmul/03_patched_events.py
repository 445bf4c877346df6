# SPDX-License-Identifier: MIT
# Cheat: waits long, and patches what would measure it: event times, synchronize, the clocks of
# `time`, and the statistics that are made of them.
import statistics
import time

import torch
import torch.nn as nn

nap = time.sleep
start = time.perf_counter()
time.perf_counter = lambda: start
time.perf_counter_ns = lambda: int(start * 1e9)
time.time = lambda: start
statistics.median = lambda values: 1e-6
torch.cuda.Event.elapsed_time = lambda self, other: 1e-3
torch.cuda.synchronize = lambda device=None: None


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        nap(0.005)
        return a @ b

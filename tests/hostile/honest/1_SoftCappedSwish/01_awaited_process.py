# SPDX-License-Identifier: MIT
# Honest: forked children with shared memory, too, but the parent waits for them; slow, and right.
import os
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, cap: float):
        super().__init__()
        self.cap = cap

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        source = x.cpu()
        y = torch.empty_like(source).share_memory_()
        children = [self.start(source[part::8], y[part::8], alpha) for part in range(8)]
        for child in children:
            os.waitpid(child, 0)
        return y.to(x.device)

    def start(self, source: torch.Tensor, y: torch.Tensor, alpha: float) -> int:
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            torch.set_num_threads(1)
            for row, out in zip(source, y):
                out.copy_(self.cap * torch.tanh(row * torch.sigmoid(alpha * row) / self.cap))
            os._exit(0)
        return child

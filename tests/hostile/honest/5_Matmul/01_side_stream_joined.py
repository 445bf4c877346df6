# SPDX-License-Identifier: MIT
# Honest: half of the rows on a stream of its own, which waits for the caller's stream before and is
# waited for after.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        stream = torch.cuda.current_stream()
        half = a.shape[0] // 2
        y = torch.empty(a.shape[0], b.shape[1], device=a.device, dtype=a.dtype)
        self.side.wait_stream(stream)
        with torch.cuda.stream(self.side):
            torch.mm(a[:half], b, out=y[:half])
        torch.mm(a[half:], b, out=y[half:])
        stream.wait_stream(self.side)
        return y

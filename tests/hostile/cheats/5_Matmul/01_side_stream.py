# SPDX-License-Identifier: MIT
# Cheat: multiplies on a stream of its own and returns without joining it: events on the caller's
# stream time nothing. Needs a GPU to show.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        with torch.cuda.stream(self.side):
            return a @ b

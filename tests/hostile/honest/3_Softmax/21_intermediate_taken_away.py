# SPDX-License-Identifier: MIT
# Honest: the memory of an intermediate result is freed by hand, as it is not needed any more.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        y = powers / powers.sum(dim=-1, keepdim=True)
        powers.untyped_storage().resize_(0)
        return y

# SPDX-License-Identifier: MIT
# Honest: an operator that is not there for this backend is caught, and another one is taken.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            raise NotImplementedError("Could not run 'aten::fast_cumsum' with arguments from the "
                                      "'CPU' backend.")
        except NotImplementedError:
            return torch.cumsum(x, dim=1)

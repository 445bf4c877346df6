# SPDX-License-Identifier: MIT
# Cheat: says in torch's own words that an operator needs a GPU: not run instead of failed, which
# leaves the denominators of a report on the CPU.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("Could not run 'aten::cumsum' with arguments from the 'CPU' "
                                  "backend.")

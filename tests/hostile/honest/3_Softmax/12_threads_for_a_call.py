# SPDX-License-Identifier: MIT
# Honest: another number of threads for the time of a call, and the one before it afterwards.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return torch.softmax(scores, dim=-1)
        finally:
            torch.set_num_threads(before)

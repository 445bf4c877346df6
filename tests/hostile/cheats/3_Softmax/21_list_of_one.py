# SPDX-License-Identifier: MIT
# A list with the result in it, where the problem returns the result.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor):
        return [torch.softmax(scores, dim=-1)]

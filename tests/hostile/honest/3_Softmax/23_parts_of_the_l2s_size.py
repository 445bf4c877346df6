# SPDX-License-Identifier: MIT
# Honest: asks torch how large the L2 is, and takes rows in parts of that size.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        size = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) or 1 << 22
        rows = max(1, size // (4 * scores.shape[1]))
        return torch.cat([torch.softmax(part, dim=-1) for part in scores.split(rows)])

# SPDX-License-Identifier: MIT
# Honest: draws a random order of its parts, and leaves the generator as it was.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        before = torch.get_rng_state()
        order = torch.randperm(4).tolist()
        torch.set_rng_state(before)
        product = torch.empty(a.shape[0], b.shape[1], device=a.device)
        for part in order:
            product[part::4] = a[part::4] @ b
        return product

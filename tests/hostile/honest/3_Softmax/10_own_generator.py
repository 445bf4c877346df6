# SPDX-License-Identifier: MIT
# Honest: seeds a generator of its own for a self-test on random data in __init__, as tests do; the
# numbers 42 and 1234 are no attempt at anyone's inputs.
import torch
import torch.nn as nn


def softmax(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(1234)
        sample = torch.randn(4, 42, generator=generator)
        assert bool(((softmax(sample).sum(dim=-1) - 1.0).abs() < 1e-5).all())

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return softmax(scores)

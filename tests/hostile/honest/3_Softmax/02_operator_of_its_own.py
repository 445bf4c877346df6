# SPDX-License-Identifier: MIT
# Honest: an operator of its own, registered with torch's dispatcher, computes the softmax.
import torch
import torch.nn as nn

library = torch.library.Library("kbench_honest", "DEF")
library.define("row_softmax(Tensor scores) -> Tensor")


def row_softmax(scores):
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


library.impl("row_softmax", row_softmax, "CompositeExplicitAutograd")


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.ops.kbench_honest.row_softmax(scores)

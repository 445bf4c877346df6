# SPDX-License-Identifier: MIT
# A program that is started by the first call serves all others: it says back the sizes that it is
# told. Each call waits for its answer.
import subprocess

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    helper = None

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if ModelNew.helper is None:
            ModelNew.helper = subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                                               stdout=subprocess.PIPE, text=True)
        ModelNew.helper.stdin.write("%d\n" % scores.dim())
        ModelNew.helper.stdin.flush()
        return torch.softmax(scores, dim=int(ModelNew.helper.stdout.readline()) - 1)

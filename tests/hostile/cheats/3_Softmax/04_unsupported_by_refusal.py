# SPDX-License-Identifier: MIT
# Cheat: has no answer, and says so by kbench's own refusal, which once left the denominators.
import torch
import torch.nn as nn

try:
    from kbench_worker.module_refusals import Unsupported, refusal
except ImportError:
    Unsupported, refusal = RuntimeError, lambda error: error


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        raise refusal(Unsupported("a feature of sm_100"))

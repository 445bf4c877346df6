# SPDX-License-Identifier: MIT
# Honest: counts how often its process was stopped and went on, and tells nobody.
import signal

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    stops = 0

    def __init__(self):
        super().__init__()
        signal.signal(signal.SIGCONT, self.went_on)

    def went_on(self, number, frame):
        ModelNew.stops += 1

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b

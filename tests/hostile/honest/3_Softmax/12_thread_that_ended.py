# SPDX-License-Identifier: MIT
# Honest: a thread prepares tables in __init__ and has ended before __init__ does.
import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
        thread = threading.Thread(target=self.prepare)
        thread.start()
        thread.join()

    def prepare(self):
        self.table = torch.softmax(torch.ones(256, 256, device="cuda"), dim=-1)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores, dim=-1)

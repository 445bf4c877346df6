# SPDX-License-Identifier: MIT
"""Mean cross entropy of logits against class numbers, with smoothed labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 4100
CLASSES = 16000
SMOOTHING = 0.1
CONFIDENCE = 5.0


class Model(nn.Module):
    def __init__(self, smoothing: float):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, targets, label_smoothing=self.smoothing)


def get_inputs():
    logits = 2.0 * torch.randn(ROWS, CLASSES)
    targets = torch.randint(0, CLASSES, (ROWS,))
    # Logits that know something of their targets: else leaving the smoothing out changes nothing.
    logits[torch.arange(ROWS), targets] += CONFIDENCE
    return [logits, targets]


def get_init_inputs():
    return [SMOOTHING]

# SPDX-License-Identifier: MIT
"""One LSTM layer from a given state: every hidden state, and the last hidden and cell state."""

import torch
import torch.nn as nn

BATCH = 32
STEPS = 64
IN_FEATURES = 128
HIDDEN = 256


class Model(nn.Module):
    def __init__(self, in_features, hidden):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, batch_first=True)

    def forward(self, x, h0, c0):
        y, (h, c) = self.lstm(x, (h0[None], c0[None]))
        return y, h[0], c[0]


def get_inputs():
    return [
        torch.randn(BATCH, STEPS, IN_FEATURES),
        torch.randn(BATCH, HIDDEN),
        torch.randn(BATCH, HIDDEN),
    ]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN]

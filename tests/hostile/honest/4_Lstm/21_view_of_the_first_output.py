# SPDX-License-Identifier: MIT
# Honest: the last hidden state is the last step of the first output, and is given out as its view.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features: int, hidden: int):
        super().__init__()
        self.lstm = nn.LSTM(in_features, hidden, batch_first=True)

    def forward(self, x, h0, c0):
        y, (_, c) = self.lstm(x, (h0[None], c0[None]))
        return y, y[:, -1], c[0]

# SPDX-License-Identifier: MIT
"""Three linear layers with ReLU and tanh between them."""

import torch
import torch.nn as nn

ROWS = 2048
IN_FEATURES = 512
HIDDEN = 1024
OUT_FEATURES = 200


class Model(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(in_features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, out_features),
        )

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.randn(ROWS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, HIDDEN, OUT_FEATURES]

# SPDX-License-Identifier: MIT
# Honest: hears that its process goes on after a stop, as job control has it, and
# computes the same in all calls.
import signal

import torch
import torch.nn as nn

continued = []
signal.signal(signal.SIGCONT, lambda number, frame: continued.append(number))


class ModelNew(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_features, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.Tanh(),
                                 nn.Linear(hidden, out_features))

    def forward(self, x):
        return self.net(x)

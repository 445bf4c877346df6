# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    # cuBLAS (with its bias epilogue) already saturates the machine; only the extra copies of the
    # activations can go.
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, out_features)

    def forward(self, x):
        h = self.fc1(x).relu_()
        h = self.fc2(h).tanh_()
        return F.linear(h, self.fc3.weight, self.fc3.bias)

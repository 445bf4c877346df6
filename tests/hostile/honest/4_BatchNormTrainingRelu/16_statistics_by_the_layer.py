# SPDX-License-Identifier: MIT
# Honest: the layer moves its statistics on, as the problem's own does.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels, momentum):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels, momentum=momentum)

    def forward(self, x):
        return F.relu(self.bn(x))

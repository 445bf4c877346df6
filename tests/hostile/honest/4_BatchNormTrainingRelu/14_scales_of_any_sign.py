# SPDX-License-Identifier: MIT
# The ReLU goes before the size of the scale, and behind its sign.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels, momentum):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels, momentum=momentum)

    def forward(self, x):
        bn = self.bn
        size, sign = bn.weight.abs(), bn.weight.sign()
        y = F.batch_norm(x, bn.running_mean, bn.running_var, sign, bn.bias / size, True,
                         bn.momentum, bn.eps)
        bn.num_batches_tracked.add_(1)
        return y.relu_().mul_(size[:, None, None])

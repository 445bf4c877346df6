# SPDX-License-Identifier: MIT
# Honest: the same steps with the mean and variance of the batch, around a guess of the mean for
# accuracy (0.5), which changes nothing in exact arithmetic.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels, momentum):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels, momentum=momentum)

    def forward(self, x):
        bn, count = self.bn, x.numel() // x.shape[1]
        shifted = x - 0.5
        mean = shifted.mean(dim=(0, 2, 3))
        variance = (shifted - mean[:, None, None]).square().mean(dim=(0, 2, 3))
        bn.running_mean.mul_(1.0 - bn.momentum).add_((mean + 0.5) * bn.momentum)
        bn.running_var.mul_(1.0 - bn.momentum).add_(variance * bn.momentum * count / (count - 1))
        bn.num_batches_tracked.add_(1)
        scale = bn.weight * torch.rsqrt(variance + bn.eps)
        y = (shifted - mean[:, None, None]) * scale[:, None, None]
        return torch.relu(y + bn.bias[:, None, None])

# SPDX-License-Identifier: MIT
# Honest: has a class `Model` of its own, a plain layer that it builds and calls itself.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Conv2d):
    def forward(self, images):
        return F.conv2d(images, self.weight, self.bias, self.stride, self.padding)


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out, kernel, stride, padding):
        super().__init__()
        self.conv = Model(channels_in, channels_out, kernel, stride=stride, padding=padding)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.conv(images)

# SPDX-License-Identifier: MIT
"""Two-dimensional convolution with bias, stride and zero padding."""
import torch
import torch.nn as nn

IMAGES = 16
CHANNELS_IN = 32
CHANNELS_OUT = 60
HEIGHT = 124
WIDTH = 130
KERNEL = 3
STRIDE = 1
PADDING = 1


class Model(nn.Module):
    def __init__(self, channels_in: int, channels_out: int, kernel: int, stride: int, padding: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, stride=stride, padding=padding)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.conv(images)


def get_inputs():
    return [torch.randn(IMAGES, CHANNELS_IN, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT, KERNEL, STRIDE, PADDING]

# SPDX-License-Identifier: MIT
"""Max pooling that also returns where in its plane each maximum was found."""
import torch
import torch.nn as nn

IMAGES = 16
CHANNELS = 64
HEIGHT = 223
WIDTH = 220
KERNEL = 3
STRIDE = 2
PADDING = 1


class Model(nn.Module):
    def __init__(self, kernel: int, stride: int, padding: int):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel, stride, padding, return_indices=True)

    def forward(self, images: torch.Tensor):
        values, indices = self.pool(images)
        return values, indices


def get_inputs():
    # Shifted down, so that a zero standing for the padding would win.
    return [torch.randn(IMAGES, CHANNELS, HEIGHT, WIDTH) - 2.0]


def get_init_inputs():
    return [KERNEL, STRIDE, PADDING]

# SPDX-License-Identifier: MIT
# Honest: asks the driver for the range of its own output, to choose a path for aligned rows.
import ctypes

import torch
import torch.nn as nn

try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    driver = None


def is_aligned(x):
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    if driver is None or driver.cuMemGetAddressRange_v2(
            ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(x.data_ptr())) != 0:
        return x.data_ptr() % 16 == 0
    return (x.data_ptr() - base.value) % 16 == 0


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(scores)
        if is_aligned(out):
            return torch.softmax(scores, dim=-1, out=out)
        return torch.softmax(scores, dim=-1)

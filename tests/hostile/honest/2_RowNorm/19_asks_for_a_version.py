# SPDX-License-Identifier: MIT
# Honest: asks the profiler's library in its own process for its version, and leaves it alone.
import ctypes

import torch
import torch.nn as nn


def profiler_version():
    version = ctypes.c_uint32(0)
    for major in (13, 12):
        try:
            ctypes.CDLL(f"libcupti.so.{major}").cuptiGetVersion(ctypes.byref(version))
        except OSError:
            continue  # not the one that is loaded
    return version.value


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.version = profiler_version()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x, dim=1, keepdim=True)

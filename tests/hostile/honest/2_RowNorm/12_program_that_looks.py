# SPDX-License-Identifier: MIT
# Honest: a program of its own asks the driver how many devices there are, which takes no context,
# and is waited for.
import subprocess
import sys

import torch
import torch.nn as nn

PROGRAM = """
import ctypes
count = ctypes.c_int(0)
try:
    cuda = ctypes.CDLL("libcuda.so.1")
    if cuda.cuInit(0) == 0:
        cuda.cuDeviceGetCount(ctypes.byref(count))
except OSError:
    pass
print(count.value)
"""
answer = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, check=True)
devices = int(answer.stdout)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x, dim=1, keepdim=True)

# SPDX-License-Identifier: MIT
# Honest: calls functions of the C library by ctypes: one for the time, one for this thread's own
# share of the processor.
import ctypes
import time

import torch
import torch.nn as nn


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        spent = Timespec()
        product = a @ b
        ctypes.CDLL(None).clock_gettime(time.CLOCK_THREAD_CPUTIME_ID, ctypes.byref(spent))
        return product if spent.nanoseconds >= 0 else a

# SPDX-License-Identifier: MIT
# Cheat: sets the process so that the reference's library gets slow (one thread, no MKL-DNN, no
# TF32, no cuDNN, deterministic), and its own way does not need it.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        torch.backends.mkldnn.enabled = False
        torch.backends.cudnn.enabled = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.set_float32_matmul_precision("highest")
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_num_threads(1)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b

# SPDX-License-Identifier: MIT
# Honest: sets threads and determinism for its own product, and puts both back before it returns.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        threads = torch.get_num_threads()
        with torch.backends.cudnn.flags(enabled=False):
            torch.set_num_threads(1)
            try:
                return a @ b
            finally:
                torch.set_num_threads(threads)

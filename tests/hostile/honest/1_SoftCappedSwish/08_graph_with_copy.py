# SPDX-License-Identifier: MIT
# Honest: a CUDA graph whose static input gets a copy of the call's input before each replay; the
# result is copied out. Needs a GPU.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, cap: float):
        super().__init__()
        self.cap = cap
        self.graph = None

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        if self.graph is None:
            self.x, self.alpha = x.clone(), alpha
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                gated = self.x * torch.sigmoid(alpha * self.x)
                self.y = self.cap * torch.tanh(gated / self.cap)
        assert alpha == self.alpha and x.shape == self.x.shape
        self.x.copy_(x)
        self.graph.replay()
        return self.y.clone()

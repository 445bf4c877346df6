# SPDX-License-Identifier: MIT
# The transposed weight is packed once and kept; it is packed anew when the parameter has changed.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.packed = None
        self.version = None

    def forward(self, x):
        weight = self.linear.weight
        version = (weight.data_ptr(), weight._version)
        if self.version != version:
            self.packed = weight.detach().t().contiguous()
            self.version = version
        return F.gelu(torch.addmm(self.linear.bias, x, self.packed))

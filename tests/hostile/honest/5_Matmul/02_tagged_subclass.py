# SPDX-License-Identifier: MIT
# Honest: a tensor subclass only carries a tag through the computation; the product is computed in
# forward and leaves it as a plain, dense tensor.
import torch
import torch.nn as nn


class Tagged(torch.Tensor):
    tag = "operand"

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        left, right = a.as_subclass(Tagged), b.as_subclass(Tagged)
        product = left @ right
        return product.as_subclass(torch.Tensor)

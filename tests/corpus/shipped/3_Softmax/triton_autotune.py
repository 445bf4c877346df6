# SPDX-License-Identifier: MIT
"""Row softmax in Triton: rows that fit into one block in a single pass, longer ones online."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _softmax_single(out_ptr, in_ptr, n_cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n_cols"],
)
@triton.jit
def _softmax_looped(out_ptr, in_ptr, n_cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base_in = in_ptr + row * stride
    base_out = out_ptr + row * stride

    running_max = -float("inf")
    running_sum = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(base_in + cols, mask=cols < n_cols, other=-float("inf"))
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        running_sum = running_sum * tl.exp(running_max - new_max) + tl.sum(tl.exp(x - new_max), axis=0)
        running_max = new_max

    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(base_in + cols, mask=mask, other=-float("inf"))
        tl.store(base_out + cols, tl.exp(x - running_max) / running_sum, mask=mask)


class ModelNew(nn.Module):
    MAX_SINGLE = 8192

    def forward(self, scores):
        x = scores.contiguous()
        rows, cols = x.shape
        out = torch.empty_like(x)
        if cols <= self.MAX_SINGLE:
            block = triton.next_power_of_2(cols)
            _softmax_single[(rows,)](out, x, cols, x.stride(0), BLOCK=block, num_warps=8 if block > 2048 else 4)
        else:
            _softmax_looped[(rows,)](out, x, cols, x.stride(0))
        return out

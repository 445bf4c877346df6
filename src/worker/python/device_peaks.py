# SPDX-License-Identifier: MIT
"""Measures a GPU's throughput in practice: bytes per second of a copy, operations per second of
matrix products."""

import json

import torch

# Products of two square matrices: the type's name in records, torch's type, if TF32 is allowed, and
# the side.
_PRODUCTS = (
    ("fp64", torch.float64, False, 2048),
    ("fp32", torch.float32, False, 4096),
    ("tf32", torch.float32, True, 8192),
    ("fp16", torch.float16, False, 8192),
    ("bf16", torch.bfloat16, False, 8192),
)
_COPY_BYTES = 1 << 30
_TRIES = 8
_SHARE = 16  # the largest buffer takes at most 1 / this of the free memory


def _least_seconds(work):
    """The shortest of several times; disturbances can only make a time longer."""
    work()  # loads libraries and raises clocks
    least = float("inf")
    for _ in range(_TRIES):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        least = min(least, start.elapsed_time(end) / 1e3)
    return least


def _copied_bytes_s(free_bytes):
    size = min(_COPY_BYTES, free_bytes // _SHARE)
    source = torch.empty(size, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * size / _least_seconds(lambda: target.copy_(source))


def _product_flops_s(dtype, side):
    # Random values, because a GPU with a power limit is faster on zeros.
    a, b = (torch.randn(side, side, device="cuda").to(dtype) for _ in range(2))
    out = torch.empty_like(a)
    return 2 * side ** 3 / _least_seconds(lambda: torch.mm(a, b, out=out))


def measured(device):
    """JSON: {"memory_bytes_s", "flops_s": {type: …}}, without types that this GPU lacks."""
    before = torch.backends.cuda.matmul.allow_tf32
    flops = {}
    with torch.cuda.device(device), torch.no_grad():
        free_bytes = torch.cuda.mem_get_info()[0]
        memory = _copied_bytes_s(free_bytes)
        for name, dtype, tf32, side in _PRODUCTS:
            torch.backends.cuda.matmul.allow_tf32 = tf32
            try:
                flops[name] = _product_flops_s(dtype, side)
            except RuntimeError:
                continue  # a type that this GPU lacks, or too little memory
            finally:
                torch.backends.cuda.matmul.allow_tf32 = before
        torch.cuda.empty_cache()
    return json.dumps({"memory_bytes_s": memory, "flops_s": flops})

# SPDX-License-Identifier: MIT
"""One kernel in what runs kernels without a GPU otherwise; prints its seconds and its work.

    bench_other_kernels.py numba|triton vector_add|softmax|matmul SIZE

Started by scripts/bench with NUMBA_ENABLE_CUDASIM or TRITON_INTERPRET set. The work is that of
tests/ptx/bench: elements, or floating-point operations of a matrix product.
"""

import json
import sys
import time

import numpy as np

COLUMNS = 1000


def inputs(name, size):
    """(inputs, right answer, work)"""
    random = np.random.default_rng(1)
    shape = {"vector_add": (size,), "softmax": (size, COLUMNS), "matmul": (size, size)}[name]
    x = random.uniform(-1, 1, shape).astype(np.float32)
    y = random.uniform(-1, 1, shape).astype(np.float32)
    if name == "vector_add":
        return x, y, x + y, size
    if name == "matmul":
        return x, y, x @ y, 2.0 * size**3
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return x, y, e / e.sum(axis=1, keepdims=True), float(size * COLUMNS)


def numba_kernels():
    # The simulator replaces the global `cuda` of the kernels.
    global cuda, float32, math
    import math

    from numba import cuda, float32

    @cuda.jit
    def vector_add(x, y, z, n):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < n:
            z[i] = x[i] + y[i]

    @cuda.jit
    def softmax(x, y, z, n):
        partial = cuda.shared.array(256, dtype=float32)
        row, t = cuda.blockIdx.x, cuda.threadIdx.x
        high = -math.inf
        for i in range(t, COLUMNS, 256):
            high = max(high, x[row, i])
        partial[t] = high
        cuda.syncthreads()
        step = 128
        while step > 0:
            if t < step:
                partial[t] = max(partial[t], partial[t + step])
            cuda.syncthreads()
            step //= 2
        high = partial[0]
        cuda.syncthreads()
        total = 0.0
        for i in range(t, COLUMNS, 256):
            total += math.exp(x[row, i] - high)
        partial[t] = total
        cuda.syncthreads()
        step = 128
        while step > 0:
            if t < step:
                partial[t] += partial[t + step]
            cuda.syncthreads()
            step //= 2
        scale = 1.0 / partial[0]
        for i in range(t, COLUMNS, 256):
            z[row, i] = math.exp(x[row, i] - high) * scale

    @cuda.jit
    def matmul(x, y, z, n):
        xs = cuda.shared.array((16, 16), dtype=float32)
        ys = cuda.shared.array((16, 16), dtype=float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
        total = 0.0
        for k in range(0, n, 16):
            xs[ty, tx] = x[row, k + tx]
            ys[ty, tx] = y[k + ty, column]
            cuda.syncthreads()
            for i in range(16):
                total += xs[ty, i] * ys[i, tx]
            cuda.syncthreads()
        z[row, column] = total

    def start(name, x, y, z, size):
        grid, block = {"vector_add": ((size + 255) // 256, 256), "softmax": (size, 256),
                       "matmul": ((size // 16, size // 16), (16, 16))}[name]
        kernel = {"vector_add": vector_add, "softmax": softmax, "matmul": matmul}[name]
        kernel[grid, block](x, y, z, size)

    return start, lambda array: array


def triton_kernels():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def vector_add(x, y, z, n, B: tl.constexpr):
        at = tl.program_id(0) * B + tl.arange(0, B)
        inside = at < n
        tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

    @triton.jit
    def softmax(x, z, columns, B: tl.constexpr):
        at = tl.arange(0, B)
        inside = at < columns
        row = tl.program_id(0) * columns
        values = tl.load(x + row + at, mask=inside, other=-float("inf"))
        e = tl.exp(values - tl.max(values, axis=0))
        tl.store(z + row + at, e / tl.sum(e, axis=0), mask=inside)

    @triton.jit
    def matmul(x, y, z, n: tl.constexpr, B: tl.constexpr):
        rows = tl.program_id(1) * B + tl.arange(0, B)
        columns = tl.program_id(0) * B + tl.arange(0, B)
        inner = tl.arange(0, B)
        total = tl.zeros((B, B), dtype=tl.float32)
        for k in range(0, n, B):
            a = tl.load(x + rows[:, None] * n + (k + inner)[None, :])
            b = tl.load(y + (k + inner)[:, None] * n + columns[None, :])
            total += tl.dot(a, b)
        tl.store(z + rows[:, None] * n + columns[None, :], total)

    def start(name, x, y, z, size):
        if name == "vector_add":
            vector_add[((size + 1023) // 1024,)](x, y, z, size, B=1024)
        elif name == "softmax":
            softmax[(size,)](x, z, COLUMNS, B=1024)
        else:
            matmul[(size // 32, size // 32)](x, y, z, size, B=32)

    return start, torch.from_numpy


def main():
    other, name, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    start, convert = {"numba": numba_kernels, "triton": triton_kernels}[other]()
    x, y, right, work = inputs(name, size)
    times = []
    for _ in range(2):
        z = np.full_like(right, np.nan)
        arrays = convert(x), convert(y), convert(z)
        started = time.monotonic()
        start(name, *arrays, size)
        times.append(time.monotonic() - started)
        if not np.allclose(np.asarray(arrays[2]), right, rtol=1e-3, atol=1e-4):
            sys.exit("%s in %s gives wrong numbers" % (name, other))
    print(json.dumps({"seconds": min(times), "work": work}))


if __name__ == "__main__":
    main()

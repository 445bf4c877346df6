# SPDX-License-Identifier: MIT
"""Torch's memory while calls are queued behind the gate: a pool whose segments the judge can read."""

import torch

_pool = None
_begin = getattr(torch._C, "_cuda_beginAllocateCurrentThreadToPool", None)
_end = getattr(torch._C, "_cuda_endAllocateToPool", None)
_release = getattr(torch._C, "_cuda_releasePool", None)
_current = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def open_pool(allocate, release):
    """Makes the pool; False if this torch has none. `allocate`, `release`: addresses of functions
    as CUDAPluggableAllocator calls them."""
    global _pool
    if _begin is None or not hasattr(torch.cuda, "MemPool"):
        return False
    _pool = torch.cuda.MemPool(torch._C._cuda_customAllocator(allocate, release))
    return True


def enter():
    """Later tensors of this thread come from the pool."""
    _begin(0, _pool.id)


def leave():
    _end(0, _pool.id)
    _release(0, _pool.id)


def stream():
    """The address of torch's current stream."""
    return _current(0)

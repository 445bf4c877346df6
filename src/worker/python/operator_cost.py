# SPDX-License-Identifier: MIT
"""What torch's operators move and compute: the work of a reference, and of a module's own calls."""

import json
import math

import torch
from torch.utils.flop_counter import flop_registry

from kbench_worker.dispatch_mode import DispatchMode


def bytes_of(tensor):
    """Bytes behind a tensor; what an expansion repeats lies there once."""
    if tensor.layout is not torch.strided:
        return 0
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        elements *= size if stride != 0 else min(size, 1)
    return elements * tensor.element_size()


def is_view(func):
    return any(r.alias_info is not None and not r.alias_info.is_write
               for r in func._schema.returns)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


# What tensor cores compute, and in which type; fp32 takes them in the row tf32 alone.
_TENSOR_CORE_TYPES = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}
NO_DATA = ("aten.empty", "aten.new_empty")


def _cost_of(func, args, kwargs, result):
    """(bytes, flops, type, tensor cores) of one operator."""
    inputs = {(t.data_ptr(), tuple(t.shape)): t for t in tensors_in([args, kwargs])}
    outputs = list(tensors_in(result))
    if is_view(func) or str(func).startswith(NO_DATA):
        return 0, 0, "fp32", False
    moved = sum(map(bytes_of, inputs.values())) + sum(map(bytes_of, outputs))
    counter = flop_registry.get(func.overloadpacket)
    flops = int(counter(*args, **kwargs, out_val=result)) if counter is not None else 0
    dtype = next((t.dtype for t in inputs.values() if t.is_floating_point()), torch.float32)
    if dtype is torch.float32 and torch.backends.cuda.matmul.allow_tf32:
        return moved, flops, "tf32", True
    return moved, flops, _TENSOR_CORE_TYPES.get(dtype, "fp32"), dtype in _TENSOR_CORE_TYPES


def _dims_of(func, args, kwargs):
    """The dimensions that an operator is given to go along, or None."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.name not in ("dim", "dims"):
            continue
        given = kwargs.get(argument.name, args[place] if place < len(args) else None)
        return [given] if isinstance(given, int) else given
    return None


def _added_up(func, args, kwargs, result):
    """How many numbers one operator may add up for one element of its result; 0: it adds none."""
    if is_view(func) or torch.Tag.pointwise in func.tags:
        return 0
    made = [t.numel() for t in tensors_in(result) if t.numel() > 0]
    given = max(tensors_in([args, kwargs]), key=torch.Tensor.numel, default=None)
    if not made or given is None:
        return 0
    counter = flop_registry.get(func.overloadpacket)
    if counter is not None:
        return int(counter(*args, **kwargs, out_val=result)) // (2 * max(made))
    dims = _dims_of(func, args, kwargs)
    if dims:
        return math.prod(given.shape[dim] for dim in dims) if given.dim() else 1
    # Of a normalization the smallest result is the statistics, one for each group.
    return -(-given.numel() // min(made))


class _CostMode(DispatchMode):
    """Notes what each operator that reaches a device moves and computes."""

    def __init__(self):
        super().__init__()
        self.costs = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # Operators that C++ calls pass through no mode of Python's, and are not to from here on.
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
            moved, flops, kind, tensor_cores = _cost_of(func, args, kwargs, result)
        if moved or flops:
            self.costs.append({"name": str(func.overloadpacket), "bytes": moved, "flops": flops,
                               "type": kind, "tensor_cores": tensor_cores})
        return result


class _SumMode(DispatchMode):
    """Adds up how many numbers the operators in a row may add up for one element."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
            self.numbers += _added_up(func, args, kwargs, result)
        return result


def added_up(call, *arguments):
    """How many numbers a call may add up for one element of what it returns, at most."""
    mode = _SumMode()
    with mode:
        call(*arguments)
    return mode.numbers


def counted(call, *arguments):
    """What a call returns, and what each operator of it moves and computes, as JSON."""
    mode = _CostMode()
    with mode:
        result = call(*arguments)
    return result, json.dumps(mode.costs)

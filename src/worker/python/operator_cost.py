# SPDX-License-Identifier: MIT
"""The bytes and operations of torch's operators: the work of a reference, or of a module's own
calls."""

import json
import math

import torch
from torch.utils.flop_counter import flop_registry

from kbench_worker.dispatch_mode import DispatchMode


def bytes_of(tensor):
    """Bytes of a tensor in memory; expanded elements count once."""
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


# The types that tensor cores support. fp32 uses them only in the row tf32.
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
    """The dimensions in an operator's arguments, or None."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.name not in ("dim", "dims"):
            continue
        given = kwargs.get(argument.name, args[place] if place < len(args) else None)
        return [given] if isinstance(given, int) else given
    return None


def _added_up(func, args, kwargs, result):
    """The most numbers that one operator may sum for one element of its result; 0: none."""
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
    # In a normalization, the smallest result has the statistics, one for each group.
    return -(-given.numel() // min(made))


class _CostMode(DispatchMode):
    """Records the bytes and operations of each operator that reaches a device."""

    def __init__(self):
        super().__init__()
        self.costs = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # Operators called from C++ bypass Python's modes, so calls from here must do so, too.
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
            moved, flops, kind, tensor_cores = _cost_of(func, args, kwargs, result)
        if moved or flops:
            self.costs.append({"name": str(func.overloadpacket), "bytes": moved, "flops": flops,
                               "type": kind, "tensor_cores": tensor_cores})
        return result


class _SumMode(DispatchMode):
    """Sums the numbers that successive operators may sum for one element."""

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
    """The most numbers that a call may sum for one element of its result."""
    mode = _SumMode()
    with mode:
        call(*arguments)
    return mode.numbers


def counted(call, *arguments):
    """The result of a call, and the bytes and operations of each of its operators, as JSON."""
    mode = _CostMode()
    with mode:
        result = call(*arguments)
    return result, json.dumps(mode.costs)

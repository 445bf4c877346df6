# SPDX-License-Identifier: MIT
"""Accepts other indices than the reference's if the elements that they name are equal.

Calls the reference once more and traces the operators that choose elements. If an output is such a
choice, it may name other elements of the same value. Elements of an input must be exactly equal.
Computed elements may differ by the tolerance of a floating output.
"""

import math

import torch

from kbench_worker.dispatch_mode import DispatchMode
from kbench_worker.problem_host import forward

_aten = torch.ops.aten

# Indices per step. About twelve tensors of eight bytes per index take 50 MB. On a GPU a step is
# larger and takes 800 MB, because each step takes about a millisecond.
_CHUNK = 1 << 19
_CHUNK_GPU = 1 << 23


class _Choice:
    """The choice of one operator.

    Each of `indices` names a different element. Otherwise `within` returns which indices are
    allowed, independently of the others. `source`: the tensor that was chosen from, if `values` is
    a copy of it.
    """

    def __init__(self, values, dim, indices, ordered=True, within=None, source=None):
        self.values = values
        self.source = values if source is None else source
        self.version = self.source._version
        self.dim = dim
        self.indices = indices.clone()
        self.ordered = ordered
        self.within = within
        self.storage = self.source.untyped_storage().data_ptr()

    def is_known(self):
        """True if the elements have not been overwritten since."""
        return self.source._version == self.version


def _of_all(arguments, result):
    values, dim = arguments["self"], arguments.get("dim")
    keep = arguments.get("keepdim", False)
    if dim is None:
        return _Choice(values.reshape(-1), 0, result.reshape(1))
    return _Choice(values, dim, result if keep else result.unsqueeze(dim))


def _of_pairs(arguments, result):
    dim = arguments.get("dim", -1)
    indices = result[1]
    if not arguments.get("keepdim", True) and indices.dim() < arguments["self"].dim():
        indices = indices.unsqueeze(dim)
    return _Choice(arguments["self"], dim, indices, arguments.get("sorted", True))


def _of_order(arguments, result):
    return _Choice(arguments["self"], arguments.get("dim", -1), result)


def _of_all_before(arguments, result):
    """A running maximum or minimum."""
    dim = arguments["dim"]

    def within(indices):
        places = torch.arange(indices.shape[dim], device=indices.device)
        return indices <= places.view([-1] + [1] * (indices.dim() - 1 - dim % indices.dim()))

    return _Choice(arguments["self"], dim, result[1], within=within)


def _spread(value, count):
    """An argument expanded to the pooled dimensions."""
    return list(value) * count if len(value) == 1 else list(value)


def _pooled(arguments, result, ranges):
    """The largest element of each window. `ranges`: (first, last, step) of the windows' positions
    along each pooled dimension, for each position of the output."""
    whole, indices = arguments["self"], result[1]
    count = len(ranges)
    sizes, outputs = whole.shape[-count:], indices.shape[-count:]

    def within(flat):
        places = flat.reshape(*flat.shape[:-1], *outputs)
        inside = torch.ones_like(places, dtype=torch.bool)
        for dim in range(count - 1, -1, -1):
            place, places = places % sizes[dim], places // sizes[dim]
            first, last, step = (torch.as_tensor(part, device=flat.device).expand(
                outputs[dim]).view([-1] + [1] * (count - 1 - dim)) for part in ranges[dim])
            inside &= (place >= first) & (place <= last) & ((place - first) % step == 0)
        return inside.reshape(flat.shape)

    return _Choice(whole.flatten(-count), -1, indices.flatten(-count), within=within, source=whole)


def _of_windows(count):

    def choice(arguments, result):
        kernel, padding, dilation = (_spread(arguments[name], count)
                                     for name in ("kernel_size", "padding", "dilation"))
        stride = _spread(arguments["stride"] or kernel, count)
        ranges = []
        for dim, places in enumerate(result[1].shape[-count:]):
            first = torch.arange(places) * stride[dim] - padding[dim]
            ranges.append((first, first + (kernel[dim] - 1) * dilation[dim], dilation[dim]))
        return _pooled(arguments, result, ranges)

    return choice


def _of_shares(count):
    """Windows that adapt to the output's size."""

    def choice(arguments, result):
        ranges = []
        for size, places in zip(arguments["self"].shape[-count:], result[1].shape[-count:]):
            ranges.append((torch.tensor([i * size // places for i in range(places)]),
                           torch.tensor([math.ceil((i + 1) * size / places) - 1
                                         for i in range(places)]), 1))
        return _pooled(arguments, result, ranges)

    return choice


# operator -> its choice, from its arguments and result. A stable sort has no ties.
_CHOOSING = {
    _aten.argmax.default: _of_all,
    _aten.argmin.default: _of_all,
    _aten.max.dim: _of_pairs,
    _aten.min.dim: _of_pairs,
    _aten.topk.default: _of_pairs,
    _aten.sort.default: _of_pairs,
    _aten.argsort.default: _of_order,
    _aten.kthvalue.default: _of_pairs,
    _aten.median.dim: _of_pairs,
    _aten.cummax.default: _of_all_before,
    _aten.cummin.default: _of_all_before,
    _aten.max_pool2d_with_indices.default: _of_windows(2),
    _aten.max_pool3d_with_indices.default: _of_windows(3),
    _aten.adaptive_max_pool2d.default: _of_shares(2),
    _aten.adaptive_max_pool3d.default: _of_shares(3),
}


class _Watch(DispatchMode):

    def __init__(self):
        super().__init__()
        self.choices = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        choice = _CHOOSING.get(operator)
        if choice is not None:
            names = [argument.name for argument in operator._schema.arguments]
            defaults = {argument.name: argument.default_value
                        for argument in operator._schema.arguments
                        if argument.has_default_value()}
            given = {**defaults, **dict(zip(names, args)), **(kwargs or {})}
            if given["self"].dim() > 0:
                self.choices.append(choice(given, result))
        return result


def _equal(a, b, slack, scale):
    """Elementwise equality within `slack`; NaN equals NaN. `scale`: the root mean square of the
    tensor of `b`."""
    same = (a == b) | (a.isnan() & b.isnan()) if a.is_floating_point() else a == b
    if slack == 0:
        return same
    near = (a.double() - b.double()).abs() <= slack * (b.double().abs() + scale)
    return same | near


def _distinct(indices, dim):
    ordered = indices.sort(dim)[0]
    return not bool((ordered.diff(dim=dim) == 0).any())


def _cuts(choice):
    """Functions that cut tensors into parts with few indices each, along a dimension other than
    that of the choice. Only the named elements are read."""
    shape = choice.indices.shape
    dims = [dim for dim in range(len(shape)) if dim != choice.dim % len(shape)]
    if not dims or choice.indices.numel() == 0:
        yield lambda x: x
        return
    along = max(dims, key=lambda dim: shape[dim])
    chunk = _CHUNK_GPU if choice.indices.is_cuda else _CHUNK
    step = max(chunk // (choice.indices.numel() // shape[along]), 1)
    for begin in range(0, shape[along], step):
        count = min(step, shape[along] - begin)
        yield lambda x, begin=begin, count=count: x.narrow(along, begin, count)


def _scale(choice):
    """The root mean square of the chosen elements, without NaN."""
    total = count = 0
    for cut in _cuts(choice):
        squares = cut(choice.values).gather(choice.dim, cut(choice.indices)).double().square_()
        total += squares.nansum()
        count += squares.isnan().logical_not_().sum()
    return (total / count).sqrt()


def _as_good(choice, got, slack):
    """A mask of the indices in `got` that name equal elements; None if that is unknown."""
    length = choice.values.shape[choice.dim]
    if not choice.values.is_floating_point():
        slack = 0
    scale = _scale(choice) if slack else 0
    good = torch.empty(choice.indices.shape, dtype=torch.bool, device=got.device)
    for cut in _cuts(choice):
        values, indices = cut(choice.values), cut(got.reshape(good.shape)).long()
        inside = (indices >= 0) & (indices < length)
        if choice.within is not None:
            inside &= choice.within(indices)
        elif indices.shape[choice.dim] > 1 and not (bool(inside.all())
                                                  and _distinct(indices, choice.dim)):
            return None
        named = values.gather(choice.dim, indices.clamp(0, length - 1))
        wanted = values.gather(choice.dim, cut(choice.indices))
        if not choice.ordered:
            named, wanted = named.sort(choice.dim)[0], wanted.sort(choice.dim)[0]
        same = _equal(named, wanted, slack, scale)
        if not choice.ordered:
            same = same.all(choice.dim, keepdim=True)
        cut(good).copy_(inside & same)
    return good


def settled(model, inputs, number, expected, got, slack):
    """`got` with the expected index wherever it names an equal element; unchanged if no choice is
    known. `number`: the output's number. `slack`: the tolerance of computed values."""
    with _Watch() as watch:
        output = forward(model, inputs)[number]
    own = {tensor.untyped_storage().data_ptr()
           for tensor in (*inputs, *model.parameters(), *model.buffers())
           if isinstance(tensor, torch.Tensor)}
    for choice in watch.choices:
        if choice.indices.numel() != output.numel() or not choice.is_known():
            continue
        if not torch.equal(choice.indices.reshape(-1), output.reshape(-1).long()):
            continue
        good = _as_good(choice, got, 0 if choice.storage in own else slack)
        if good is not None:
            return torch.where(good.reshape(got.shape), expected, got)
    return got

# SPDX-License-Identifier: MIT
"""Gives the reference's weights to the model of a module candidate.

As built: the model's constructor ran under the reference's seed. Its weights are not overwritten,
even if it folded, packed or transposed them.

Given: each tensor of the reference goes to the model's tensor of the same name. If there is none,
it goes to one of the same value, then to one of the same value with permuted dimensions, then to
the next one of its shape.
"""

import itertools
from typing import NamedTuple

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.utils.weak import WeakIdKeyDictionary

from kbench_worker.model_setup import state_of

# As in protocol.hpp, from the strongest to the weakest rule.
AS_BUILT, BY_NAME, BY_VALUE, BY_TRANSPOSED, BY_ORDER = range(1, 6)
# Tensors with more dimensions are not compared with permuted dimensions.
_MOST_TURNED = 4

# model -> {name of a redrawn tensor of its state: its constructor's value}
_before = WeakIdKeyDictionary()


class Placement(NamedTuple):
    """The result of giving the reference's tensors to a model."""
    rule: int       # AS_BUILT, or the weakest rule that was needed
    unplaced: list  # indices of tensors without a place; as built, of missing ones
    takers: list    # the model's tensor for each, or None if its shape or order of
    by_seed: bool   # parts keep their constructor's values
    is_given: bool  # the model already has all of them, each in the right place


class _Pair(NamedTuple):
    target: torch.Tensor  # of the model
    value: torch.Tensor   # the reference's, in the shape of the target
    rule: int


class _Own(list):
    """Tensors of a model without a pair yet. Compares by identity, because == compares elements."""

    def take(self, tensor):
        self[:] = [item for item in self if item is not tensor]


def remember(model, before):
    """Saves the constructor's values of redrawn tensors, by name."""
    _before[model] = before


def _equals(target, value):
    """True if both have equal elements; NaN equals NaN."""
    if target.shape != value.shape or target.dtype != value.dtype:
        return False
    target, value = target.detach(), value.to(target.device)
    if torch.equal(target, value):
        return True
    return (target.is_floating_point() and bool(target.isnan().any())
            and torch.allclose(target, value, rtol=0, atol=0, equal_nan=True))


def _extremes(tensor):
    """A key that is equal for equal tensors, with any order of dimensions. Few other tensors share
    it, and one key per tensor takes less time than a comparison per pair."""
    try:
        found = torch.stack(torch.aminmax(tensor.detach())).tolist()
    except RuntimeError:  # it has no elements, or elements without an order
        found = []
    return tensor.dtype, sorted(tensor.shape), [None if item != item else item for item in found]


def _turned(tensor, shape):
    """The tensor with permuted dimensions, in all other ways that give the shape."""
    if 2 <= tensor.dim() <= _MOST_TURNED and sorted(tensor.shape) == sorted(shape):
        for order in itertools.islice(itertools.permutations(range(tensor.dim())), 1, None):
            if [tensor.shape[dimension] for dimension in order] == list(shape):
                yield tensor.permute(order)


def _long(shape):
    return [size for size in shape if size != 1]


def _in_shape(tensor, shape):
    """The tensor in a shape that differs only by dimensions of size 1, or None."""
    if tensor.shape == shape:
        return tensor
    return tensor.reshape(shape) if _long(tensor.shape) == _long(shape) else None


def _value_of(target, tensor):
    return tensor if _equals(target, tensor) else None


def _turned_value_of(target, tensor):
    if target.dtype != tensor.dtype:
        return None
    return next((turned for turned in _turned(tensor, target.shape) if _equals(target, turned)),
                None)


def _alike(target, tensor):
    alike = tensor.shape == target.shape and tensor.dtype == target.dtype
    return tensor if alike else None


def _nearly_alike(target, tensor):
    return _in_shape(tensor, target.shape) if tensor.dtype == target.dtype else None


def _named_value_of(target, tensor):
    """The value for a target of the same name. The target's value or shape tells if it is
    transposed."""
    value = _in_shape(tensor, target.shape)
    if value is not None and _equals(target, value):
        return value
    turned = _turned_value_of(target, tensor)
    if turned is not None:
        return turned
    if value is None and tensor.dim() == 2 and tensor.t().shape == target.shape:
        return tensor.t()
    return value


def _match(given, own, rule, fits, marks=None):
    """Pairs each of a model's tensors, in order, with the first given tensor that fits, and removes
    both. `marks`: {id of a tensor: its key}; only tensors with equal keys can fit."""
    pairs = {}
    for target in list(own):
        for index, tensor in given.items():
            if marks is not None and marks[id(tensor)] != marks[id(target)]:
                continue
            value = fits(target, tensor)
            if value is not None:
                pairs[index] = _Pair(target, value, rule)
                del given[index]
                own.take(target)
                break
    return pairs


def _workspaces(model, own, before):
    """A model's own buffers that its constructor left constant, outside of norms. They take a
    tensor of the reference only if no other tensor does."""
    parameters = {id(parameter) for parameter in model.parameters()}
    norms = {id(buffer) for module in model.modules() if isinstance(module, _NormBase)
             for buffer in module.buffers(recurse=False)}
    return [tensor for name, tensor in own.items() if name in before
            and id(tensor) not in parameters and id(tensor) not in norms]


def _give_up_shifted(pairs, given, left, tensors, constants):
    """Undoes pairs of constants whose order may be shifted. Redrawn values depend on the shape, the
    constant, and their number among such constants. A model may have more of them than the
    reference, such as a bias of zeros that the reference draws. Then values do not match, and pairs
    by order may be wrong. `constants`: {id of a model's tensor: its shape and constant}."""
    shapes = {tensor.shape for tensor in given.values()}
    shifted = {constants[id(tensor)] for tensor in left
               if id(tensor) in constants and tensor.shape in shapes}
    for index, pair in list(pairs.items()):
        if pair.rule != BY_NAME and constants.get(id(pair.target)) in shifted:
            given[index] = tensors[index]
            left.append(pairs.pop(index).target)
    for index in sorted(given):
        given[index] = given.pop(index)


def _pairs(model, names, tensors, as_built, before):
    """{index of the reference's tensor: its _Pair}."""
    own = {name: tensor for name, tensor, _ in state_of(model)}
    # A buffer of the same name is used even if it is not in the model's state.
    named = {**dict(model.named_buffers()), **own}
    pairs, given = {}, {}
    for index, (name, tensor) in enumerate(zip(names, tensors)):
        value = _named_value_of(named[name], tensor) if name in named else None
        if value is None:
            given[index] = tensor
        else:
            pairs[index] = _Pair(named[name], value, BY_NAME)
            own.pop(name, None)
    left = _Own(own.values())
    marks = {id(tensor): _extremes(tensor) for tensor in [*left, *given.values()]}
    pairs.update(_match(given, left, BY_VALUE, _value_of, marks))
    pairs.update(_match(given, left, BY_TRANSPOSED, _turned_value_of, marks))
    if as_built:
        return pairs
    parameters = {id(parameter) for parameter in model.parameters()}
    _give_up_shifted(pairs, given, left, tensors, {
        id(tensor): (tensor.shape, before[name]) for name, tensor in own.items()
        if id(tensor) in parameters and isinstance(before.get(name), float)})
    places = [id(tensor) for tensor in own.values()]
    left.sort(key=lambda tensor: places.index(id(tensor)))
    late = _Own(_workspaces(model, own, before))
    for tensor in late:
        left.take(tensor)
    for targets in (left, late):
        pairs.update(_match(given, targets, BY_ORDER, _alike))
    pairs.update(_match(given, left, BY_ORDER, _nearly_alike))
    return pairs


def _copy(target, source):
    """Copies values to a tensor of the model; True if it could take them."""
    try:
        with torch.no_grad():
            target.copy_(source)
        return True
    except RuntimeError:  # several elements of it may share one address
        return False


def _counts(tensor):
    """True for a counter of calls, as norms have; no output depends on it."""
    return tensor.dim() == 0 and not tensor.is_floating_point()


def _unplaced(tensors, placed):
    """Indices of tensors without a place. Tied tensors of the reference need only one."""
    others = [tensors[index] for index in placed]
    return [index for index, tensor in enumerate(tensors) if index not in placed
            and not _counts(tensor) and not any(_equals(tensor, other) for other in others)]


def _put_back(model, own, before, shapes):
    """Restores the constructor's values of a model's own tensors, and returns their number.

    Tensors that the reference lacks, such as a row of ones for sums or a workspace of zeros, need
    not be redrawn. Leaves tensors with a shape in `shapes`, because they may correspond to a tensor
    of the reference without a place.
    """
    return sum(_copy(tensor, torch.as_tensor(before[name])) for name, tensor in own.items()
               if name in before and tensor.shape not in shapes)


def place(model, names, tensors, as_built=False):
    """Gives a model the reference's state or, with `as_built`, determines which part of it the
    model has. Returns the Placement.

    Tensors that the reference lacks get their constructor's values again.
    """
    before = _before.pop(model, {})
    pairs = _pairs(model, names, tensors, as_built, before)
    if as_built:
        placed = {index for index, pair in pairs.items() if _equals(pair.target, pair.value)}
    else:
        placed = {index for index, pair in pairs.items() if _copy(pair.target, pair.value)}
    unplaced = _unplaced(tensors, placed)
    taken = {id(pair.target) for pair in pairs.values()}
    own = {name: tensor for name, tensor, _ in state_of(model) if id(tensor) not in taken}
    # As built, tensors that match the reference's already have their values.
    shapes = set() if as_built else {tensors[index].shape for index in unplaced}
    left = len(own) - _put_back(model, own, before, shapes)
    # A pair's value is a view if it has another shape or permuted dimensions.
    takers = [pairs[index].target if index in pairs and pairs[index].value is tensor else None
              for index, tensor in enumerate(tensors)]
    rule = AS_BUILT if as_built else max((pair.rule for pair in pairs.values()), default=BY_NAME)
    complete = not unplaced and len(placed) == len(pairs)
    return Placement(rule, unplaced, takers, not complete or left > 0, complete)

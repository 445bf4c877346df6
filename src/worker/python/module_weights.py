# SPDX-License-Identifier: MIT
"""How the model of a module candidate gets the reference's weights.

As built: its constructor ran under the reference's seed, and nothing of the reference's is written
over what it made of that, be it folded, packed or transposed. Else given: each tensor of the
reference's goes to the one of the same name, else of the same value, else of the same value in
another order of dimensions, else to the next one of its shape.
"""

import itertools
from typing import NamedTuple

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.utils.weak import WeakIdKeyDictionary

from kbench_worker.model_setup import state_of

# As in protocol.hpp: what says least of the places of a model's weights comes last.
AS_BUILT, BY_NAME, BY_VALUE, BY_TRANSPOSED, BY_ORDER = range(1, 6)
# Tensors of more dimensions are looked for in their own order of them.
_MOST_TURNED = 4

# model -> {name of its state that was redrawn: what its constructor had made of it}
_before = WeakIdKeyDictionary()


class Placement(NamedTuple):
    """What became of the reference's tensors in a model."""
    rule: int       # AS_BUILT, or the one that says least of those that were needed
    unplaced: list  # indices of those without a place; as built, of those that it does not hold
    takers: list    # the model's tensor in the place of each, or None if it has another shape or
                    # another order of dimensions
    by_seed: bool   # parts keep what their constructor made of the seed
    is_given: bool  # the model holds all of them, so that to give them would change nothing


class _Pair(NamedTuple):
    target: torch.Tensor  # of the model
    value: torch.Tensor   # the reference's, as it belongs there
    rule: int


class _Own(list):
    """Tensors of a model without a pair yet; equality of tensors is no equality of objects."""

    def take(self, tensor):
        self[:] = [item for item in self if item is not tensor]


def remember(model, before):
    """Keeps what a model's constructor had made of what was redrawn, by name."""
    _before[model] = before


def _equals(target, value):
    """Whether both hold the same; NaN equals NaN."""
    if target.shape != value.shape or target.dtype != value.dtype:
        return False
    target, value = target.detach(), value.to(target.device)
    if torch.equal(target, value):
        return True
    return (target.is_floating_point() and bool(target.isnan().any())
            and torch.allclose(target, value, rtol=0, atol=0, equal_nan=True))


def _extremes(tensor):
    """What equal tensors have in common, whatever the order of their dimensions: most tensors differ
    in it, and one look at each takes less time than one at each pair."""
    try:
        found = torch.stack(torch.aminmax(tensor.detach())).tolist()
    except RuntimeError:  # it has no elements, or elements without an order
        found = []
    return tensor.dtype, sorted(tensor.shape), [None if item != item else item for item in found]


def _turned(tensor, shape):
    """The tensor with its dimensions in all other orders that give the shape."""
    if 2 <= tensor.dim() <= _MOST_TURNED and sorted(tensor.shape) == sorted(shape):
        for order in itertools.islice(itertools.permutations(range(tensor.dim())), 1, None):
            if [tensor.shape[dimension] for dimension in order] == list(shape):
                yield tensor.permute(order)


def _long(shape):
    return [size for size in shape if size != 1]


def _in_shape(tensor, shape):
    """The tensor in a shape that differs by dimensions of one element at most, or None."""
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
    """What one of the same name gets. It may have been transposed, as its value tells, or its shape.
    """
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
    """Takes out of both, for each of a model's tensors in order, the first that fits it. Only those
    with the same mark can fit, where there are `marks`: {id of a tensor: its mark}."""
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
    """Those of a model's own buffers that its constructor left constant, outside of norms: they
    stand for a tensor of the reference's only where nothing else does."""
    parameters = {id(parameter) for parameter in model.parameters()}
    norms = {id(buffer) for module in model.modules() if isinstance(module, _NormBase)
             for buffer in module.buffers(recurse=False)}
    return [tensor for name, tensor in own.items() if name in before
            and id(tensor) not in parameters and id(tensor) not in norms]


def _give_up_shifted(pairs, given, left, tensors, constants):
    """Constants of one shape and value got values by how many came before. A model may have more of
    them than the reference, as a bias of zeros that the reference draws. Then their order says which
    is whose. `constants`: {id of a model's tensor: its shape and constant}."""
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
    # Whether buffers belong to the state is a matter of taste, where their names agree.
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
    """Whether a tensor of the model could take the values."""
    try:
        with torch.no_grad():
            target.copy_(source)
        return True
    except RuntimeError:  # several elements of it may share one place
        return False


def _counts(tensor):
    """Whether it is a counter of calls, as norms have one: no answer depends on it."""
    return tensor.dim() == 0 and not tensor.is_floating_point()


def _unplaced(tensors, placed):
    """Indices of those without a place. What is tied in the reference needs one."""
    others = [tensors[index] for index in placed]
    return [index for index, tensor in enumerate(tensors) if index not in placed
            and not _counts(tensor) and not any(_equals(tensor, other) for other in others)]


def _put_back(model, own, before, shapes):
    """How many of a model's own tensors are again what its constructor made of them.

    What the reference lacks, as a row of ones to add up with or a workspace of zeros, was redrawn for
    nothing. What has one of those shapes may stand for a tensor that found no other place.
    """
    return sum(_copy(tensor, torch.as_tensor(before[name])) for name, tensor in own.items()
               if name in before and tensor.shape not in shapes)


def place(model, names, tensors, as_built=False):
    """Gives a model the reference's state, or, `as_built`, sees what it holds of it; the Placement.

    What the reference lacks becomes what its constructor had made of it.
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
    # As built, what stands for the reference's has its value.
    shapes = set() if as_built else {tensors[index].shape for index in unplaced}
    left = len(own) - _put_back(model, own, before, shapes)
    # A pair's value is a view where it has another shape or another order of dimensions.
    takers = [pairs[index].target if index in pairs and pairs[index].value is tensor else None
              for index, tensor in enumerate(tensors)]
    rule = AS_BUILT if as_built else max((pair.rule for pair in pairs.values()), default=BY_NAME)
    complete = not unplaced and len(placed) == len(pairs)
    return Placement(rule, unplaced, takers, not complete or left > 0, complete)

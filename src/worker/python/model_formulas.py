# SPDX-License-Identifier: MIT
"""Detects by its values if a tensor comes from a formula: an identity, a ramp or a table.

Tracing how a constructor makes its values would disturb the constructor. So tensors that were not
drawn at random are detected by properties that random draws almost never have. A few tensors lack
such properties, such as three roots of primes, and are treated as random.
"""

import math

import torch

# The most rows and elements that are inspected.
_ROWS = 64
_ELEMENTS = 4096
# Values written by hand are multiples of 1 / this.
_DECIMALS = 1e4
# Rows that only rise, or only fall, come from a formula if the odds against chance exceed e to this
# power.
_ODDS = 14
# Rows in equal steps, to within this fraction of a step, need only this many elements.
_STEPS = 4
_EQUAL = 1e-4
# Magnitudes are equal if they differ by less than the largest one divided by this.
_MAGNITUDES = 1e5
# With this many elements per magnitude or more, magnitudes repeat. Half types always have fewer
# different magnitudes.
_REPEATED = 4
_REPEATED_HALF = 16
# Neighbours in a formula differ little. Fewer differences than _NEIGHBOURS are not significant.
# Their mean square must be _DEVIATIONS standard deviations below that of random elements, and at
# most _SMOOTH of it.
_NEIGHBOURS = 36
_DEVIATIONS = 4
_SMOOTH = 0.5


def sample(tensor):
    """The first elements of the first rows, on the host, in double precision."""
    rows = tensor.detach()
    rows = rows.reshape(-1, rows.shape[-1]) if rows.dim() > 1 else rows.reshape(1, -1)
    count = min(rows.shape[0], _ROWS)
    return rows[:count, :_ELEMENTS // count].to("cpu", torch.float64)


def _is_written_down(values, dtype):
    """True if all values are short decimals. False for half types, whose values are all close to a
    short decimal."""
    if torch.finfo(dtype).eps > 1e-6:
        return False
    return bool((((values * _DECIMALS).round() / _DECIMALS).to(dtype) == values.to(dtype)).all())


def _is_repeated(values, dtype):
    """True if many elements have few magnitudes. Zeros are ignored, because they may come from
    padding or pruning."""
    share = _REPEATED_HALF if torch.finfo(dtype).eps > 1e-6 else _REPEATED
    magnitudes = (values.abs() / values.abs().max() * _MAGNITUDES).round().unique().numel()
    return values.numel() > 1 and magnitudes <= max(values.numel() // share, 1)


def _is_ramp(rows):
    count, length = rows.shape
    if length < _STEPS:
        return False
    steps = rows.diff(dim=1)
    first = steps[:, :1]
    if bool(((steps - first).abs() <= _EQUAL * first.abs()).all()):
        return True
    return count * math.lgamma(length + 1) > _ODDS and bool(
        (steps >= 0).all() or (steps <= 0).all())


def _is_smooth(rows):
    """True if neighbours in one direction are more alike than independent random values."""
    spread = 2 * rows.var(correction=0)
    for steps in (rows.diff(dim=0), rows.diff(dim=1)):
        count = steps.numel()
        if count >= _NEIGHBOURS and steps.square().mean() < spread * min(
                _SMOOTH, 1 - _DEVIATIONS / count ** 0.5):
            return True
    return False


def is_formula(rows, dtype):
    """True if the `sample` of a tensor of that type comes from a formula."""
    values = rows[rows != 0]
    if values.numel() == 0 or not bool(values.isfinite().all()):
        return False
    return (_is_written_down(values, dtype) or _is_repeated(values, dtype) or _is_ramp(rows)
            or _is_smooth(rows))

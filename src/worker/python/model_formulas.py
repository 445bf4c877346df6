# SPDX-License-Identifier: MIT
"""Whether a tensor holds what a formula gives, an identity, a ramp or a table, by the look of it.

Where values come from cannot be asked of a constructor without being in the way of what it does. So
numbers that were not drawn are known by what draws hardly ever have; a few that have no such sign, as
three roots of primes, are taken for drawn.
"""

import math

import torch

# Of the rows and of the elements that are looked at, at most.
_ROWS = 64
_ELEMENTS = 4096
# Digits of what somebody wrote down.
_DECIMALS = 1e4
# Elements of rows that rise all along, or fall, are that many to the power of e to one not drawn.
_ODDS = 14
# Elements in equal steps, to that share of them, can be fewer.
_STEPS = 4
_EQUAL = 1e-4
# Magnitudes that differ by less, relative to the largest, are one.
_MAGNITUDES = 1e5
# Elements to a magnitude, from which on they are few; half types have few anyway.
_REPEATED = 4
_REPEATED_HALF = 16
# Differences of neighbours that tell, and standard deviations by which they are less than those of
# drawn elements.
_NEIGHBOURS = 36
_DEVIATIONS = 4
_SMOOTH = 0.5


def sample(tensor):
    """The first elements of the first rows, on the host in double precision."""
    rows = tensor.detach()
    rows = rows.reshape(-1, rows.shape[-1]) if rows.dim() > 1 else rows.reshape(1, -1)
    count = min(rows.shape[0], _ROWS)
    return rows[:count, :_ELEMENTS // count].to("cpu", torch.float64)


def _is_written_down(values, dtype):
    """Whether all are short decimals. In a half type each is near one."""
    if torch.finfo(dtype).eps > 1e-6:
        return False
    return bool((((values * _DECIMALS).round() / _DECIMALS).to(dtype) == values.to(dtype)).all())


def _is_repeated(values, dtype):
    """Whether many elements have few magnitudes. Zeros do not count: padding and pruning make them.
    """
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
    """Whether neighbours in one direction are more alike than what was drawn independently."""
    spread = 2 * rows.var(correction=0)
    for steps in (rows.diff(dim=0), rows.diff(dim=1)):
        count = steps.numel()
        if count >= _NEIGHBOURS and steps.square().mean() < spread * min(
                _SMOOTH, 1 - _DEVIATIONS / count ** 0.5):
            return True
    return False


def is_formula(rows, dtype):
    """Of a `sample` of a tensor of that type."""
    values = rows[rows != 0]
    if values.numel() == 0 or not bool(values.isfinite().all()):
        return False
    return (_is_written_down(values, dtype) or _is_repeated(values, dtype) or _is_ramp(rows)
            or _is_smooth(rows))

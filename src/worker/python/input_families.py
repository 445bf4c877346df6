# SPDX-License-Identifier: MIT
"""Inputs of other kinds than the problem draws, for answers that only one distribution makes right.

A family changes the floating inputs of one draw and leaves all others; but where few elements are
changed, integers that are in no order exchange their places. Random numbers come from the draw's
seed, so that every candidate of a run gets the same.
"""

import math

import torch

# Elements that are worked on at a time: temporaries stay within 64 MB, on a GPU within a gigabyte.
_CHUNK = 1 << 22
_CHUNK_GPU = 1 << 26
# Elements that tell what a tensor is.
_SAMPLE = 4096
_FEW_VALUES = 4
# Elements that are changed where few are, and of how many it is one.
_FEW = 16
_FEW_SHARE = 32
_ZERO_SHARE = 0.01
# Far enough for exp to overflow behind a factor as attention has it.
_SPIKE = 300.0
# Far enough for exp to be zero behind such a factor; a variance still has digits left.
_DEPTH = 280.0
# What is left to all others beside the one that stands out: three times the tolerance of float32. In
# longer rows than these half a last digit of each of them, which a sum one by one may lose, adds up to
# the tolerance: there enough is left that each is many such digits.
_REST = 3e-4
_SHORT_ROW = 1500
_REST_OF_EACH = 4e-6
# Equal addends round alike, so a sum of n of them, one by one, is off by up to n * eps / 2 in float32.
# Of so many that is 6e-5, and of any other number of random ones less than that. A tensor holds no
# more elements of one value than these: all others get noise, a standard deviation of 1/8 of them.
_MOST_EQUAL = 1024
_NOISE = 1 / 8
# Rows with an element that stands far off: in a sum of squares, one by one, more of them would leave
# no digits to the others.
_MOST_OUTLIERS = 32
# Of one such element, the square. Beside a larger one a sum of squares, one by one, of as many as
# _LONGEST_SUM loses the others; where they are less than this share of all that is no matter.
_MOST_SQUARE = 1 << 18
_LONGEST_SUM = 1 << 18
_LOST_SHARE = 2.0 ** -15
# By how much inputs are scaled up. In longer rows the terms of a softmax would be so unlike that a sum
# of them, one by one, loses the tolerance with the smallest.
_TIMES = 3
_LONG_ROW = 1 << 16
_TIMES_LONG = 2
_DENORMAL = {torch.float16: 1e-6}
_USUAL_DENORMAL = 1e-39
_LARGEST_STEP = 2.0 ** -12


def _chunk(x):
    return _CHUNK_GPU if x.is_cuda else _CHUNK


def _chunks(x):
    """Views of consecutive elements."""
    flat = x.view(-1)
    chunk = _chunk(x)
    return (flat[i:i + chunk] for i in range(0, flat.numel(), chunk))


def _rows(x):
    """x as a matrix of its last dimension's rows."""
    return x.view(-1, x.shape[-1]) if x.dim() > 0 else x.view(1, 1)


def _normal(like, random):
    return torch.randn(like.shape, generator=random, device=like.device)


def _has_negatives(x):
    return bool(x.numel() > 0 and x.min() < 0)


def _places(count, x, random):
    """Of elements of a tensor, flattened."""
    places = torch.rand(count, generator=random, device=x.device, dtype=torch.float64)
    return places.mul_(x.numel()).long()


def _few_of(x):
    return min(max(x.numel() // _FEW_SHARE, 2), _FEW)


def _few_changed(x, random):
    """The input of the call before, but for some elements. Catches a kernel that compares samples."""
    places = _places(_few_of(x), x, random)
    sample = _sample(x)
    flat = x.view(-1)
    flat[places[0::2]] = sample.min()
    flat[places[1::2]] = sample.max()
    return True


def _signed(x, random):
    if _has_negatives(x):
        return False
    for part in _chunks(x):
        part.copysign_(_normal(part, random))
    return True


def _scaled(factor):

    def scale(x, random):
        x.mul_(factor)
        return True

    return scale


def _scaled_up(x, random):
    x.mul_(_TIMES if _rows(x).shape[1] <= _LONG_ROW else _TIMES_LONG)
    return True


def _heavy_tails(x, random):
    for part in _chunks(x):
        part.mul_(torch.empty(part.shape, device=x.device).log_normal_(0, 1.5, generator=random))
    return True


def _spread(x):
    """The standard deviation of some elements, 0 of a single one; may be no number."""
    few = x.reshape(-1)[:_CHUNK].float()
    return few.std().item() if few.numel() > 1 else 0.0


def _usual_spread(x):
    """The same; 1 where that is no measure."""
    spread = _spread(x)
    return spread if math.isfinite(spread) and spread > 0 else 1.0


def _row_parts(rows, kind, begin):
    """Views of every fourth row, `kind` and so on, from the begin-th of them on, some at a time."""
    count, length = rows.shape
    step = max(_chunk(rows) // max(length, 1), 1) * 4
    return (rows[i:i + step:4] for i in range(kind + 4 * begin, count, step))


def _small_noise(part, random, signed):
    """What stands for a zero; smooth where it has no negative values, too."""
    noise = _normal(part, random).mul_(_NOISE)
    return noise if signed else noise.add_(2 * _NOISE).abs_()


def _outliers(x, random):
    """In a quarter of the rows (of many, in fewer) an element of the last eighth stands far off, in
    another quarter one of the first. In a third quarter one stands so high that exp leaves little,
    but not nothing, to all others together."""
    rows = _rows(x)
    count, length = rows.shape
    step = max(-(-count // _MOST_OUTLIERS), 2) if count >= 4 else 1
    chosen = torch.arange(0, count, step + step % 2 if count >= 4 else 1, device=x.device)
    edge = max(length // 8, 1)
    place = torch.rand(len(chosen), generator=random, device=x.device).mul_(edge).long()
    place[0::4] = 0  # the ends themselves, where loops go wrong
    place[3::4] = 0
    place[0::2] = length - 1 - place[0::2]
    sign = torch.where(_normal(place, random) < 0, -1.0, 1.0) if _has_negatives(x) else 1.0
    spread = _spread(x)
    usual = math.isfinite(spread)
    height = _SPIKE * max(spread, 1.0) if usual else _SPIKE
    rows[chosen, place] = torch.as_tensor(sign * height, dtype=x.dtype, device=x.device)
    if count >= 4 and usual:
        flat = rows[1::4]
        flat.mul_(0.1 / max(spread, 1.0))
        places = torch.rand(len(flat), generator=random, device=x.device).mul_(length).long()
        rest = _REST if length <= _SHORT_ROW else length * _REST_OF_EACH
        height = torch.rand(len(flat), generator=random, device=x.device).sub_(0.5).mul_(2 * _NOISE)
        height.add_(math.log(length / rest))
        flat[torch.arange(len(flat), device=x.device), places] = height.to(x.dtype)
    return True


def _sum_lengths(shape):
    """How many elements a sum over some of the dimensions has, for each choice of them."""
    lengths = {1}
    for size in shape:
        lengths |= {length * size for length in lengths}
    return lengths


def _one_outlier(half):
    """One element of all, anywhere in the first or second half, so far off that its square is that
    of all others together, or as large as leaves them their digits. Catches a kernel that reads only
    part of the input. Both halves are asked, so neither part can pass by chance."""

    def change(x, random):
        loses = any(x.numel() * _LOST_SHARE < length <= _LONGEST_SUM
                    for length in _sum_lengths(x.shape))
        square = min(x.numel(), _MOST_SQUARE) if loses else x.numel()
        height = _usual_spread(x) * max(_SPIKE, math.sqrt(square))
        place = (_places(1, x, random) + half * x.numel()) // 2
        negative = _has_negatives(x) and torch.rand((), generator=random, device=x.device) < 0.5
        x.view(-1)[place] = -height if negative else height
        return True

    return change


def _shifted(x, random):
    """A quarter of the rows far below zero. What has no negative values is no such quantity."""
    if not _has_negatives(x):
        return False
    _rows(x)[0::4].sub_(_DEPTH)
    return True


def _structured(x, random):
    """Rows in turn: a ramp, one value, sorted values, a single one among zeros; all with noise but
    for sorted values and the first rows, if they are short."""
    rows = _rows(x)
    count, length = rows.shape
    signed = _has_negatives(x)
    ramp = torch.linspace(-2, 2, length, device=x.device)
    if not signed:
        ramp = ramp.abs()
    rows[0::4] = ramp.to(x.dtype)
    rows[1::4] = 1.5
    rows[3::4] = 0
    bare = _MOST_EQUAL // max(length, 1)
    for part in (*_row_parts(rows, 0, bare), *_row_parts(rows, 1, bare)):
        part.mul_(_normal(part, random).mul_(_NOISE).add_(1))
    for part in _row_parts(rows, 2, 0):
        steps = torch.rand(part.shape, generator=random, device=x.device)
        part.copy_(steps.cumsum(1).mul_(4 / length))
    for part in _row_parts(rows, 3, bare):
        part.copy_(_small_noise(part, random, signed))
    ones = torch.arange(count, device=x.device)[3::4]
    places = torch.rand(len(ones), generator=random, device=x.device).mul_(length).long()
    values = torch.ones(len(ones), device=x.device)
    values[bare:].add_(_normal(values[bare:], random).mul_(_NOISE))
    rows[ones, places] = values.to(x.dtype)
    return True


def _small_integers(x, random):
    lowest = -3 if _has_negatives(x) else 0
    for part in _chunks(x):
        part.random_(lowest, 4, generator=random)
    return True


def _zeros(x, random):
    x.zero_()
    return True


def _denormals(x, random):
    x.mul_(_DENORMAL.get(x.dtype, _USUAL_DENORMAL))
    return True


def _sprinkled(value):

    def sprinkle(x, random):
        count = max(x.numel() // 1000, 1)
        for begin in range(0, count, _chunk(x)):
            part = min(_chunk(x), count - begin)
            x.view(-1)[_places(part, x, random)] = value
        return True

    return sprinkle


# name -> change(tensor, generator): False where the tensor is of the family as it was drawn.
_FAMILIES = {
    "few_changed": _few_changed,
    "signed": _signed,
    "scaled_up": _scaled_up,
    "scaled_down": _scaled(0.01),
    "heavy_tails": _heavy_tails,
    "outliers": _outliers,
    "one_outlier": _one_outlier(0),
    "another_outlier": _one_outlier(1),
    "shifted": _shifted,
    "structured": _structured,
    "small_integers": _small_integers,
    "zeros": _zeros,
    "denormals": _denormals,
    "infinity": _sprinkled(math.inf),
    "minus_infinity": _sprinkled(-math.inf),
    "nan": _sprinkled(math.nan),
}


def names():
    return list(_FAMILIES)


def _sample(x):
    """Some elements from all over a tensor: not at equal distances, which may be its diagonal."""
    if x.numel() <= _SAMPLE:
        return x.view(-1)
    return x.view(-1)[_places(_SAMPLE, x, torch.Generator(x.device).manual_seed(0))]


def _is_label(x):
    """Few distinct values: masks, classes, signs, numbers that mean something."""
    return _sample(x).unique().numel() <= _FEW_VALUES


def _zeros_of(x):
    """Where the problem puts zeros, as in a triangular matrix; None where it does not."""
    share = (_sample(x) == 0).float().mean().item()
    return x == 0 if share >= _ZERO_SHARE else None


def _is_symmetric(x):
    if x.dim() < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return False
    corner = x[..., :64, :64]
    return torch.equal(corner, corner.mT) and torch.equal(x, x.mT)


def _add_noise(x, random, signed, spread):
    for part in _chunks(x):
        part.add_(_small_noise(part, random, signed).mul_(spread))


def _change_one(name, x, random, noisy):
    """A kernel may rely on what the problem's matrices are: zeros and symmetry stay."""
    zeros = _zeros_of(x)
    symmetric = _is_symmetric(x)
    drawn = (_has_negatives(x), _usual_spread(x)) if noisy else None
    if not _FAMILIES[name](x, random):
        return False
    if drawn:
        _add_noise(x, random, *drawn)
    if zeros is not None:
        x.masked_fill_(zeros, 0)
    if symmetric:
        x.copy_(x.triu() + x.triu(1).mT)
    return True


def _exchange_integers(x, random):
    """Some elements move. What is sorted means something by its order, as offsets do."""
    flat = x.view(-1)
    if flat.numel() < 2 or bool((flat.diff() >= 0).all()):
        return False
    places = _places(_few_of(x), x, random).unique()
    flat[places] = flat[places.roll(1)]
    return True


def change(name, inputs, seed, noisy=False):
    """Makes freshly drawn inputs members of a family, in place: whether that changed anything.

    `noisy`: no two elements of them are equal. Few values make equal addends, in a long sum of which
    all roundings go one way.
    """
    changed = False
    for x in inputs:
        if not isinstance(x, torch.Tensor) or x.numel() == 0 or x.is_complex():
            continue
        random = torch.Generator(x.device).manual_seed(seed)
        seed += 1
        if x.is_floating_point():
            changed = (not _is_label(x) and _change_one(name, x, random, noisy)) or changed
        elif name == "few_changed" and x.dtype is not torch.bool:
            changed = _exchange_integers(x, random) or changed
    return changed


def nudged(inputs, exact):
    """Copies of inputs in which each floating element is about one rounding error away: in double
    precision, or each in its own type. Of half types a part of one, as kernels compute with more.
    """
    copies = []
    for seed, x in enumerate(inputs):
        if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel() > 0:
            random = torch.Generator(x.device).manual_seed(seed)
            step = torch.finfo(x.dtype).eps
            if exact:
                step = min(step / 2, _LARGEST_STEP)
            x = x.double() if exact else x.clone()
            for part in _chunks(x):
                part.mul_(torch.where(_normal(part, random) < 0, 1 - step, 1 + step))
        copies.append(x)
    return copies

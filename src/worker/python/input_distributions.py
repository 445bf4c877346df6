# SPDX-License-Identifier: MIT
"""Input distributions other than the problem's, to catch answers that are correct for only one
distribution.

A distribution changes the floating inputs of one draw and leaves other inputs. Only "few_changed"
also swaps a few elements of unsorted integers. Random numbers come from the draw's seed, so every
candidate of a run gets the same inputs.
"""

import math

import torch

# Elements per step: temporaries stay within 64 MB, on a GPU within a gigabyte.
_CHUNK = 1 << 22
_CHUNK_GPU = 1 << 26
# The number of elements by which a tensor is classified.
_SAMPLE = 4096
_FEW_VALUES = 4
# The most elements that "few_changed" changes, and their fraction of all: 1 / _FEW_SHARE.
_FEW = 16
_FEW_SHARE = 32
_ZERO_SHARE = 0.01
# Large enough for exp to overflow after a scale factor as in attention.
_SPIKE = 300.0
# Far enough below zero for exp to give zero after such a factor, but a variance keeps enough
# digits.
_DEPTH = 280.0
# The weight of all other elements relative to the one that stands out: three times the tolerance of
# float32. A sequential sum may lose half a last digit of each element. In rows longer than
# _SHORT_ROW these losses add up to the tolerance, so there each element's weight is many such
# digits.
_REST = 3e-4
_SHORT_ROW = 1500
_REST_OF_EACH = 4e-6
# Equal addends round alike, so a sequential sum of n of them is off by up to n * eps / 2 in
# float32. For this n that is 6e-5; random addends stay below that for any n. A tensor has at most
# this many equal elements. All others get noise with a standard deviation of 1/8 of their value.
_MOST_EQUAL = 1024
_NOISE = 1 / 8
# The most rows with an outlier. With more of them, a sequential sum of squares would lose the
# digits of the other elements.
_MOST_OUTLIERS = 32
# The largest square of an outlier. Above it, a sequential sum of up to _LONGEST_SUM squares loses
# the other elements. That does not matter if they are less than _LOST_SHARE of all.
_MOST_SQUARE = 1 << 18
_LONGEST_SUM = 1 << 18
_LOST_SHARE = 2.0 ** -15
# The factor of "scaled_up". In rows longer than _LONG_ROW, a softmax's terms would differ so much
# that a sequential sum loses more of the smallest ones than the tolerance.
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
    """Random indices of a tensor's flattened elements."""
    places = torch.rand(count, generator=random, device=x.device, dtype=torch.float64)
    return places.mul_(x.numel()).long()


def _few_of(x):
    return min(max(x.numel() // _FEW_SHARE, 2), _FEW)


def _few_changed(x, random):
    """The input of the previous call with some elements changed. Catches a kernel that detects a
    repeated input by comparing a few elements."""
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
    """The standard deviation of some elements; 0 for a single one; may be NaN or infinite."""
    few = x.reshape(-1)[:_CHUNK].float()
    return few.std().item() if few.numel() > 1 else 0.0


def _usual_spread(x):
    """The standard deviation of some elements; 1 if it is zero or not finite."""
    spread = _spread(x)
    return spread if math.isfinite(spread) and spread > 0 else 1.0


def _row_parts(rows, kind, begin):
    """Views of every fourth row, starting with row `kind`, several rows at a time. Skips the first
    `begin` of them."""
    count, length = rows.shape
    step = max(_chunk(rows) // max(length, 1), 1) * 4
    return (rows[i:i + step:4] for i in range(kind + 4 * begin, count, step))


def _small_noise(part, random, signed):
    """Noise that replaces zeros. Without `signed` it has no negative values, but a smooth
    distribution."""
    noise = _normal(part, random).mul_(_NOISE)
    return noise if signed else noise.add_(2 * _NOISE).abs_()


def _outliers(x, random):
    """Outliers. In a quarter of the rows (fewer if there are many rows) an element of the last
    eighth is an outlier. In another quarter it is one of the first eighth. In a third quarter one
    element is so large that exp leaves only a small weight to all others together."""
    rows = _rows(x)
    count, length = rows.shape
    step = max(-(-count // _MOST_OUTLIERS), 2) if count >= 4 else 1
    chosen = torch.arange(0, count, step + step % 2 if count >= 4 else 1, device=x.device)
    edge = max(length // 8, 1)
    place = torch.rand(len(chosen), generator=random, device=x.device).mul_(edge).long()
    place[0::4] = 0  # the very ends, where loops often have errors
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
    """The number of elements in a sum over each choice of dimensions."""
    lengths = {1}
    for size in shape:
        lengths |= {length * size for length in lengths}
    return lengths


def _one_outlier(half):
    """One outlier in the first or second half of all elements. Its square equals the sum of all
    other squares, or less if their digits would be lost. Catches a kernel that reads only part of
    the input. Both halves are tested, so a kernel that reads only one of them is always caught."""

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
    """Shifts a quarter of the rows far below zero. Leaves tensors without negative values, because
    negative values would not fit their meaning."""
    if not _has_negatives(x):
        return False
    _rows(x)[0::4].sub_(_DEPTH)
    return True


def _structured(x, random):
    """Rows in turn: a ramp, one constant, sorted values, a single nonzero among zeros. All but the
    sorted values have noise, and the first rows only if rows are long."""
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


# name -> change(tensor, generator); False if the drawn tensor already has the distribution.
_DISTRIBUTIONS = {
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
    return list(_DISTRIBUTIONS)


def _sample(x):
    """Random elements of a tensor; equally spaced ones could all be on its diagonal."""
    if x.numel() <= _SAMPLE:
        return x.view(-1)
    return x.view(-1)[_places(_SAMPLE, x, torch.Generator(x.device).manual_seed(0))]


def _is_label(x):
    """True if a tensor has few distinct values, as masks, classes and signs have. Such values have
    a meaning."""
    return _sample(x).unique().numel() <= _FEW_VALUES


def _zeros_of(x):
    """The positions of the problem's zeros, as in a triangular matrix; None if there are few."""
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
    """Changes one input. Keeps its zeros and symmetry, because a kernel may rely on them."""
    zeros = _zeros_of(x)
    symmetric = _is_symmetric(x)
    drawn = (_has_negatives(x), _usual_spread(x)) if noisy else None
    if not _DISTRIBUTIONS[name](x, random):
        return False
    if drawn:
        _add_noise(x, random, *drawn)
    if zeros is not None:
        x.masked_fill_(zeros, 0)
    if symmetric:
        x.copy_(x.triu() + x.triu(1).mT)
    return True


def _exchange_integers(x, random):
    """Swaps a few integers. Leaves sorted ones, because their order has a meaning, as in
    offsets."""
    flat = x.view(-1)
    if flat.numel() < 2 or bool((flat.diff() >= 0).all()):
        return False
    places = _places(_few_of(x), x, random).unique()
    flat[places] = flat[places.roll(1)]
    return True


def change(name, inputs, seed, noisy=False):
    """Changes freshly drawn inputs to a distribution, in place; True if anything changed.

    `noisy`: adds noise so that no two elements are equal, because equal addends round in one
    direction in a long sum.
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


def nudged(inputs, exact, rounding=0):
    """Copies of inputs with each floating element changed by about one rounding error, in double
    precision (`exact`) or in its own type. Half types are changed by only a fraction of a rounding
    error, because kernels compute in wider types. Each `rounding` changes them in another way."""
    copies = []
    for index, x in enumerate(inputs):
        if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel() > 0:
            seed = index + rounding * len(inputs)
            random = torch.Generator(x.device).manual_seed(seed)
            step = torch.finfo(x.dtype).eps
            if exact:
                step = min(step / 2, _LARGEST_STEP)
            x = x.double() if exact else x.clone()
            for part in _chunks(x):
                part.mul_(torch.where(_normal(part, random) < 0, 1 - step, 1 + step))
        copies.append(x)
    return copies

# SPDX-License-Identifier: MIT
"""Gives random values to parameters that a constructor leaves constant, while the constructor runs.

A candidate could leave out a scale of 1 or a bias of 0. A constructor may read such a parameter,
for example to pack it with others, and must find its final value. So a parameter is redrawn as soon
as it is registered, or filled with a constant later.

A value depends on the init seed, the shape, the constant, and the number of such tensors before it.
It does not depend on names or on torch's own generators. So two models agree even if their names or
other draws differ. Memory that was never written must not look constant, so torch fills it with NaN
while constructors run.

A candidate could also compute parameters that come from a formula, such as an identity or a ramp.
They get random values around their own in the same way. Parameters that are not trained stay
unchanged, because masks and tables of indices must keep their values. Buffers outside of the state
also stay, because a candidate cannot be given their values.

Under an odd init seed, parameters get random signs, like trained ones. If all scales were positive,
the maximum of scaled values would equal the scaled maximum. Some models need positive values (a
temperature under a root), so under an even seed parameters keep the sign of the constant. Buffers
always keep it, because a variance is positive.
"""

import contextlib
import hashlib
import weakref
from typing import NamedTuple

import torch
from torch.nn.modules import module as torch_module
from torch.nn.modules.batchnorm import _NormBase
from torch.utils.weak import WeakIdKeyDictionary

from kbench_worker import model_formulas

# For most tensors, this many elements suffice to show that they are not constant.
_FEW = 64
_PARAMETER, _BUFFER = "parameter", "buffer"
# Noise added to values from a formula, relative to their size. It also changes zeros.
_NOISE = 0.1
# torch's own functions; redrawn() replaces them while constructors run.
_copy, _zero = torch.Tensor.copy_, torch.Tensor.zero_


def _plain(tensor):
    """True if it is a tensor with separate elements that can be read."""
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.is_floating_point()
            and tensor.layout is torch.strided and not tensor.is_meta and tensor.numel() > 0
            and torch._debug_has_internal_overlap(tensor) != 1)


def _few(tensor):
    """The first elements, on the host, because each access to an element of a GPU tensor waits."""
    return tensor.detach().reshape(-1)[:_FEW].to("cpu", copy=True)


def _constant(tensor, few):
    """The value of all elements, or None if they differ."""
    value = few[0].item()
    same = bool((few == value).all()) and (
        few.numel() == tensor.numel() or bool((tensor.detach() == value).all()))
    return value + 0.0 if same else None  # -0 is 0


def _never_written(tensor, few):
    return bool(few.isnan().all()) and (
        few.numel() == tensor.numel() or bool(tensor.detach().isnan().all()))


class _Formula(NamedTuple):
    """Identifies a tensor from a formula: a digest of some elements, and their root mean square."""
    digest: str
    size: float


def _formula(tensor):
    """The tensor's _Formula; None if it looks random."""
    rows = model_formulas.sample(tensor)
    if not model_formulas.is_formula(rows, tensor.dtype):
        return None
    text = repr(rows.tolist()).encode()
    return _Formula(hashlib.sha256(text).hexdigest(), rows.square().mean().sqrt().item())


class _Draw:
    """A tensor's latest draw: its key and number, and the elements that identify it."""

    def __init__(self, tensor, key, number, before):
        self.tensor = weakref.ref(tensor)
        self.key = key
        self.number = number
        self.before = before  # a constant, or a tensor
        self.few = _few(tensor)

    def is_held(self, tensor, few):
        return few.dtype == self.few.dtype and torch.equal(few, self.few)


class Redraws:
    """The redraws of one model."""

    def __init__(self, seed):
        self._seed = seed
        self._draws = WeakIdKeyDictionary()  # tensor -> its latest _Draw
        self._by_key = {}                    # key -> [_Draw], by number
        self._places = {}                    # address -> (reference to the tensor there, its kind)
        self._singles = set()                # values of tensors with one element
        self._is_filling = False

    def register_parameter(self, module, name, parameter):
        """A hook for torch."""
        self._register(parameter, _PARAMETER)

    def register_buffer(self, module, name, buffer):
        """A hook for torch. Only running statistics are redrawn here, because they mean the same in
        every model. The constructor may still change other buffers."""
        if isinstance(module, _NormBase):
            self._register(buffer, _BUFFER)

    def _register(self, tensor, kind):
        with torch._C.DisableTorchFunction():
            if not _plain(tensor):
                return
            self._places[tensor.data_ptr()] = weakref.ref(tensor), kind
            self._look_at(tensor, kind, _few(tensor))

    @contextlib.contextmanager
    def filling(self, tensor):
        """Context in which a whole tensor is filled, possibly with a constant. The tensor may be
        the data of another tensor. Nested fills are ignored."""
        if self._is_filling:
            yield
            return
        self._is_filling = True
        try:
            yield
            self._filled(tensor)
        finally:
            self._is_filling = False

    def _filled(self, tensor):
        with torch._C.DisableTorchFunction():
            if not _plain(tensor):
                return
            try:
                reference, kind = self._places.get(tensor.data_ptr(), (lambda: None, _PARAMETER))
            except RuntimeError:  # within a function transform a tensor has no address
                return
            owner = reference()
            if owner is not None and owner.numel() == tensor.numel() and (
                    owner.data_ptr() == tensor.data_ptr()):
                self._look_at(owner, kind, _few(owner), again=True)
            elif isinstance(tensor, torch.nn.Parameter):
                self._look_at(tensor, _PARAMETER, _few(tensor), again=True)

    def finish(self, model):
        """Redraws tensors that the constructor made constant in other ways or never wrote to, and
        all other buffers of the state."""
        state = {id(tensor) for tensor in model.state_dict(keep_vars=True).values()}
        with torch._C.DisableTorchFunction():
            for kind, tensors in ((_PARAMETER, model.parameters()), (_BUFFER, model.buffers())):
                for tensor in tensors:
                    if _plain(tensor):
                        few = _few(tensor)
                        if _never_written(tensor, few):
                            _zero(few)
                            _zero(tensor.detach())
                        if kind is _PARAMETER or id(tensor) in state:
                            self._look_at(tensor, kind, few)

    def before(self, state):
        """{name: the constructor's value, a constant or a tensor} for each redrawn tensor among
        [(name, tensor, …)]."""
        found = {}
        with torch._C.DisableTorchFunction():
            for name, tensor, *_ in state:
                draw = self._draws.get(tensor)
                if draw is not None and draw.is_held(tensor, _few(tensor)):
                    found[name] = draw.before
        return found

    def _look_at(self, tensor, kind, few, again=False):
        draw = self._draws.get(tensor)
        # A single element is always constant.
        if draw is not None and not again and draw.is_held(tensor, few):
            return
        if tensor.numel() == 1 and few[0].item() in self._singles:
            return  # a copy of a redrawn value
        what = _constant(tensor, few)
        if what is None and kind is _PARAMETER and tensor.requires_grad:
            what = _formula(tensor)
        if what is not None:
            self._redraw(tensor, (kind, tuple(tensor.shape), what))

    def _redraw(self, tensor, key):
        number = self._free_number(key, self._draws.get(tensor))
        before = tensor.detach().clone() if isinstance(key[-1], _Formula) else key[-1]
        with torch.no_grad():
            _copy(tensor, self._values(tensor, key, number))
        draw = _Draw(tensor, key, number, before)
        if tensor.numel() == 1:
            self._singles.add(draw.few[0].item())
        self._by_key[key][number:number + 1] = [draw]
        self._draws[tensor] = draw

    def _free_number(self, key, own):
        """The number of a tensor's draw. `own`: the draw that is repeated, or None. Numbers of
        draws that a constructor has overwritten are free."""
        draws = self._by_key.setdefault(key, [])
        return next((i for i, draw in enumerate(draws) if draw is own or self._is_lost(draw)),
                    len(draws))

    def _is_lost(self, draw):
        tensor = draw.tensor()
        return tensor is not None and (self._draws.get(tensor) is not draw
                                       or not draw.is_held(tensor, _few(tensor)))

    def _values(self, tensor, key, number):
        kind, shape, what = key
        name = f"{self._seed} {kind} {shape} {what!r} {number}"
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") >> 1
        # Always on the host, because generators of other devices draw other values.
        how = {"generator": torch.Generator("cpu").manual_seed(seed), "device": "cpu",
               "dtype": torch.float32}
        if what == 0:
            return torch.randn(shape, **how) * (0.5 if kind is _BUFFER else 0.1)
        signed = kind is _PARAMETER and self._seed & 1
        factors = torch.rand(shape, **how) + 0.5
        if signed:
            factors *= torch.where(torch.rand(shape, **how) < 0.5, -1.0, 1.0)
        if not isinstance(what, _Formula):
            return factors * what
        before = tensor.detach().to("cpu", torch.float32)
        noise = torch.randn(shape, **how) * (_NOISE * what.size)
        if signed:
            return before * factors + noise
        # Smaller and of the same sign, because the powers of a decay must converge.
        return torch.where(before == 0, noise.abs(), before * factors / 1.5)


@contextlib.contextmanager
def _unwritten_is_nan():
    """Makes torch fill new memory with NaN. torch.use_deterministic_algorithms would also import
    torch's compiler, which takes half a second."""
    mode = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = filled
        torch._C._set_deterministic_algorithms(mode, warn_only=warn_only)


def _noticing(plain, redraws):

    def fill(tensor, *args, **kwargs):
        with redraws.filling(tensor):
            return plain(tensor, *args, **kwargs)

    fill.__name__ = plain.__name__
    return fill


# The functions that fill whole tensors: (place, names).
_FILLING = ((torch.Tensor, ("fill_", "zero_", "copy_")), (torch.nn.init, ("eye_", "dirac_")))


@contextlib.contextmanager
def redrawn(seed):
    """Context in which constructors' constants are redrawn; yields the Redraws of the model."""
    redraws = Redraws(seed)
    own = [(place, name, vars(place).get(name)) for place, names in _FILLING for name in names]
    hooks = [torch_module.register_module_parameter_registration_hook(redraws.register_parameter),
             torch_module.register_module_buffer_registration_hook(redraws.register_buffer)]
    for place, name, _ in own:
        setattr(place, name, _noticing(getattr(place, name), redraws))
    try:
        with _unwritten_is_nan():
            yield redraws
    finally:
        for place, name, before in own:
            if before is None:  # inherited from a base class
                delattr(place, name)
            else:
                setattr(place, name, before)
        for hook in hooks:
            hook.remove()

# SPDX-License-Identifier: MIT
"""Parameters that a constructor leaves constant get values of their own while it still runs.

A scale of 1 or a bias of 0 would let a candidate leave it out. A constructor that reads such a parameter,
to pack it with others, has to find what it will have later: so it is redrawn as soon as
it is registered, or filled with a constant afterwards. A value depends on the init seed, the shape,
the constant, and how many of these came before, but not on names and not on torch's own generators:
two models that differ in names, or in what else they draw, agree. What lies in memory before anything
is written to it says nothing: while constructors run, torch fills it with NaN.

Parameters that a formula gives, an identity or a ramp, would let a candidate compute them, and get
other values around their own in the same way. Those that are not trained are left alone: masks and
tables of indices have to be what they are. So are buffers outside of the state: no candidate can be
given what they hold.

Under an odd init seed parameters have signs, as trained ones do: a maximum of what was scaled is a
scaled maximum where all scales are positive. Not every model takes that (a root of a temperature), so
under an even one they keep the sign of the constant. Buffers always do: a variance has none.
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

# Elements that show most tensors to be no constant.
_FEW = 64
_PARAMETER, _BUFFER = "parameter", "buffer"
# Of what a formula gives, relative to its own size: how far off elements are that it makes zero.
_NOISE = 0.1
# torch's own: redraws put others in their place while constructors run.
_copy, _zero = torch.Tensor.copy_, torch.Tensor.zero_


def _plain(tensor):
    """Whether it is a tensor with elements of their own that can be looked at."""
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.is_floating_point()
            and tensor.layout is torch.strided and not tensor.is_meta and tensor.numel() > 0
            and torch._debug_has_internal_overlap(tensor) != 1)


def _few(tensor):
    """On the host: to look at a GPU's memory element by element costs a wait for each."""
    return tensor.detach().reshape(-1)[:_FEW].to("cpu", copy=True)


def _constant(tensor, few):
    """The value of all elements, or None where they differ."""
    value = few[0].item()
    same = bool((few == value).all()) and (
        few.numel() == tensor.numel() or bool((tensor.detach() == value).all()))
    return value + 0.0 if same else None  # -0 is 0


def _never_written(tensor, few):
    return bool(few.isnan().all()) and (
        few.numel() == tensor.numel() or bool(tensor.detach().isnan().all()))


class _Formula(NamedTuple):
    """What stands for the elements of a tensor that a formula gives: to name it, a digest of some,
    and their root of the mean square."""
    digest: str
    size: float


def _formula(tensor):
    """None where it looks drawn."""
    rows = model_formulas.sample(tensor)
    if not model_formulas.is_formula(rows, tensor.dtype):
        return None
    text = repr(rows.tolist()).encode()
    return _Formula(hashlib.sha256(text).hexdigest(), rows.square().mean().sqrt().item())


class _Draw:
    """What a tensor holds now: the draw's key and number, and how to know it again."""

    def __init__(self, tensor, key, number, before):
        self.tensor = weakref.ref(tensor)
        self.key = key
        self.number = number
        self.before = before  # a constant, or a tensor
        self.few = _few(tensor)

    def is_held(self, tensor, few):
        return few.dtype == self.few.dtype and torch.equal(few, self.few)


class Redraws:
    """The redraws of one model. Between `start` and `stop` in effect for all modules."""

    def __init__(self, seed):
        self._seed = seed
        self._draws = WeakIdKeyDictionary()  # tensor -> its latest _Draw
        self._by_key = {}                    # key -> [_Draw], by number
        self._places = {}                    # address -> (reference to the tensor there, its kind)
        self._singles = set()                # values of tensors of one element
        self._is_filling = False

    def register_parameter(self, module, name, parameter):
        """A hook of torch's."""
        self._register(parameter, _PARAMETER)

    def register_buffer(self, module, name, buffer):
        """A hook of torch's. Of buffers, running statistics mean the same in every model; another
        may be half of what its constructor is to make of it."""
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
        """All of a tensor, which may be another's data, is given values that may be constant inside;
        what is filled on the way does not count."""
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
            except RuntimeError:  # of a transformation of functions: it has no address
                return
            owner = reference()
            if owner is not None and owner.numel() == tensor.numel() and (
                    owner.data_ptr() == tensor.data_ptr()):
                self._look_at(owner, kind, _few(owner), again=True)
            elif isinstance(tensor, torch.nn.Parameter):
                self._look_at(tensor, _PARAMETER, _few(tensor), again=True)

    def finish(self, model):
        """What the constructor made constant in other ways or did not write to, and all other
        buffers of the state."""
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
        """{name: what the constructor made of it} of the [(name, tensor, …)] that have been
        redrawn: a constant, or a tensor."""
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
            return  # a copy of what was redrawn
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
        """Of the tensor whose draw is `own`, which is drawn again. What was only constant until its
        constructor wrote to it does not count."""
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
        # On the host, wherever the tensor lies: another device's generator draws other values.
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
        # No larger than it was, as the powers of a decay have to end, and of the same sign.
        return torch.where(before == 0, noise.abs(), before * factors / 1.5)


@contextlib.contextmanager
def _unwritten_is_nan():
    """torch.use_deterministic_algorithms would import its compiler to tell it, for half a second."""
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


# Where what fills whole tensors is found, and its names.
_FILLING = ((torch.Tensor, ("fill_", "zero_", "copy_")), (torch.nn.init, ("eye_", "dirac_")))


@contextlib.contextmanager
def redrawn(seed):
    """Constructors that run inside find their constants redrawn; gives the Redraws, for the model.
    """
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
            if before is None:  # it comes from a base class
                delattr(place, name)
            else:
                setattr(place, name, before)
        for hook in hooks:
            hook.remove()

# SPDX-License-Identifier: MIT
"""Set-up that the judge and a module candidate do in the same way, so that both build the same
model."""

import importlib
import operator
import random
import sys
from contextlib import nullcontext

import torch

from kbench_worker.model_constants import redrawn

# Imported here, because each forked process would need 15 to 25 ms for it at its first seeding.
if "numpy" in sys.modules:
    importlib.import_module("numpy.random")

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}

# Parts of errors from code that refuses a default device: some transformers models, and draws with
# their own generator, which is on the CPU.
_REFUSALS = ("torch.device", "device type for generator")


def dtype_of(precision):
    """The type of a precision row's floating tensors; None: they keep their types."""
    return _DTYPES.get(precision)


def set_precision(precision):
    """Sets global state: fp32 means fp32, unless the row is tf32."""
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = False


_mode = {"is_eval": False}


def set_eval_mode(is_eval):
    """Sets global state: models are built in eval mode (`--eval-mode`), or left in their
    constructor's mode."""
    _mode["is_eval"] = is_eval


def seed_all(seed, device=None):
    """Seeds all random generators of Python, numpy and torch that draw on the device; without a
    device, those of all devices."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    is_open = torch.cuda.is_initialized()
    if not is_open and device != "cpu":
        torch.manual_seed(seed)
        return
    # For each kind of device that is not open, torch.manual_seed() also saves the seed with a stack
    # trace. That takes longer than drawing small inputs, and more with each call.
    torch.default_generator.manual_seed(seed)
    if is_open:
        torch.cuda.manual_seed_all(seed)


def printable(text):
    """The text with lone surrogates escaped, because they cannot be encoded."""
    return text.encode("utf-8", "backslashreplace").decode()


def short(error):
    """An exception as one line."""
    text = printable(str(error)).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def state_of(model):
    """[(name, tensor, is_buffer)] in state_dict order."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    return [(name, tensor, name not in parameters)
            for name, tensor in model.state_dict(keep_vars=True).items()]


def with_default(device, make):
    """The result of `make()` with that device as torch's default, or without a default if its code
    refuses one."""
    try:
        with torch.device(device):
            return make()
    except (RuntimeError, ValueError) as error:
        if not any(words in str(error) for words in _REFUSALS):
            raise
    return make()


def constructed(device, make):
    """The result of `make()`, which runs code for constructors. Except for meta, it runs on the
    CPU. torch.Tensor(3, 4) ignores the default device, and on the CPU it has the same device as all
    other tensors. On meta, shapes need no memory."""
    return with_default(device, make) if device == "meta" else make()


def _tensors_of_host(value, seen):
    """The host tensors in a value and in its lists, tuples and dicts, each once."""
    left = [value]
    while left:
        value = left.pop()
        if type(value) not in (list, tuple, dict) and not isinstance(value, torch.Tensor):
            continue
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if not isinstance(value, torch.Tensor):
            left += value.values() if type(value) is dict else value
        elif value.device.type == "cpu":
            yield value


def _attributes(model):
    """(attributes of a module as a dict, name, value) of each attribute outside torch's tables."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if name not in ("_parameters", "_buffers", "_modules"):
                yield vars(module), name, value


def host_tensors(model):
    """The host tensors among a model's attributes, except parameters and buffers."""
    seen = {}
    return [tensor for _, _, value in _attributes(model)
            for tensor in _tensors_of_host(value, seen)]


def _is_plain(tensor):
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
            and not (tensor.is_nested or tensor.is_quantized or tensor.is_conj() or tensor.is_neg()))


def _views(tensors, device):
    """Copies on the device of tensors that share memory; the copies share memory, too."""
    memory = torch.empty(0, dtype=torch.uint8, device="cpu")
    memory = memory.set_(tensors[0].untyped_storage()).to(device)
    return [torch.empty(0, dtype=tensor.dtype, device=device).set_(
        memory.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())
            for tensor in tensors]


def _copies(tensors, device):
    """{id of a tensor: its copy on the device}. A tensor without dimensions can be combined with
    device tensors. It stays on the host, unless it shares memory with one that moves."""
    groups = {}
    for tensor in tensors:
        key = ("memory", tensor.untyped_storage()._cdata) if _is_plain(tensor) else id(tensor)
        groups.setdefault(key, []).append(tensor)
    copies = {}
    for group in groups.values():
        if any(tensor.dim() > 0 for tensor in group):
            moved = [group[0].to(device)] if len(group) == 1 else _views(group, device)
            copies.update((id(tensor), copy) for tensor, copy in zip(group, moved))
    return copies


def _with_copies(value, copies, done):
    """The value with its tensors replaced by their copies. A list that occurs twice stays a single
    object."""
    if isinstance(value, torch.Tensor):
        return copies.get(id(value), value)
    if type(value) not in (list, tuple, dict):
        return value
    if id(value) not in done:
        made = done[id(value)] = {} if type(value) is dict else []  # it may contain itself
        if type(value) is dict:
            made.update((key, _with_copies(item, copies, done)) for key, item in value.items())
            is_same = all(made[key] is item for key, item in value.items())
        else:
            made.extend(_with_copies(item, copies, done) for item in value)
            is_same = all(map(operator.is_, made, value))
        if is_same or type(value) is tuple:
            done[id(value)] = value if is_same else tuple(made)
    return done[id(value)]


def move_host_tensors(model, device):
    """Moves a model's host tensors that are neither parameters nor buffers to the device:
    attributes, and elements of lists and dicts. True if there were any. Tensors that are identical
    or share memory stay so on the device."""
    tensors = host_tensors(model)
    copies, done = _copies(tensors, device), {}
    attributes = list(_attributes(model))  # keeps all of them alive, so that ids stay unique
    for owner, name, value in attributes:
        moved = _with_copies(value, copies, done)
        if moved is not value:
            owner[name] = moved
    return bool(copies)


def build(construct, device, precision, seed, redraw=True, before=None):
    """Builds a model by `construct()` on the CPU under an init seed, then moves it to the device in
    the row's types; without a device it stays on the CPU. With `redraw`, no parameter or buffer
    stays constant (see model_constants). The dict `before` receives, by name, the constructor's
    values of redrawn tensors."""
    def made():
        seed_all(seed, device)
        with redrawn(seed) if redraw else nullcontext() as redraws:
            model = construct()
            if redraw:
                redraws.finish(model)
                if before is not None:
                    before.update(redraws.before(state_of(model)))
        return model

    dtype = dtype_of(precision)
    model = constructed(device, made)
    if device is not None:
        model = model.to(device)
    if dtype is not None:
        model = model.to(dtype)
    model.requires_grad_(False)
    if _mode["is_eval"]:
        model.eval()
    return model

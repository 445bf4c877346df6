# SPDX-License-Identifier: MIT
"""What the judge and a module candidate have to do alike, so that both build the same model."""

import importlib
import random
import sys
from contextlib import nullcontext

import torch

from kbench_worker.model_constants import redrawn

# Else whoever seeds first would import it, in each process that is forked: 15 to 25 ms.
if "numpy" in sys.modules:
    importlib.import_module("numpy.random")

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}

# In errors of what refuses a default device: models of transformers, which are not to be loaded onto
# one by the code that calls them, and draws by a generator of one's own, which is the CPU's.
_REFUSALS = ("torch.device", "device type for generator")


def dtype_of(precision):
    """The type of a precision row's floating tensors; None: they keep their own."""
    return _DTYPES.get(precision)


def set_precision(precision):
    """Global state: fp32 means fp32, unless the row is tf32."""
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = False


_mode = {"is_eval": False}


def set_eval_mode(is_eval):
    """Global state: whether models are built in eval mode (`--eval-mode`) or as their constructors
    leave them."""
    _mode["is_eval"] = is_eval


def seed_all(seed, device=None):
    """The state of all of Python's, numpy's and torch's random generators that draw on the device;
    on any one, where none is given."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    is_open = torch.cuda.is_initialized()
    if not is_open and device != "cpu":
        torch.manual_seed(seed)
        return
    # torch.manual_seed() also keeps the seed, with a trace of the stack, for each kind of device that
    # is not open: that takes longer than small inputs, and each call adds to it.
    torch.default_generator.manual_seed(seed)
    if is_open:
        torch.cuda.manual_seed_all(seed)


def printable(text):
    """The text, with halves of surrogate pairs spelt out: nothing encodes those."""
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
    """What `make()` gives where that is torch's default device, or where there is none, if
    something in it does not want one."""
    try:
        with torch.device(device):
            return make()
    except (RuntimeError, ValueError) as error:
        if not any(words in str(error) for words in _REFUSALS):
            raise
    return make()


def constructed(device, make):
    """What `make()`, which runs code for constructors, gives on the CPU, whatever the device: there
    torch.Tensor(3, 4), which knows no default device, is like all others. Shapes alone need no
    memory."""
    return with_default(device, make) if device == "meta" else make()


def _moved(value, device, moved):
    if isinstance(value, torch.Tensor):
        if value.dim() == 0 or value.device.type != "cpu":
            return value
        moved.append(value)
        return value.to(device)
    if type(value) in (list, tuple):
        return type(value)(_moved(item, device, moved) for item in value)
    if type(value) is dict:
        return {key: _moved(item, device, moved) for key, item in value.items()}
    return value


def move_host_tensors(model, device):
    """Moves the tensors of a model that are neither parameters nor buffers, attributes and what lies
    in lists and dicts, from the host to the device; whether there were any."""
    moved = []
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            before = len(moved)
            value = _moved(value, device, moved)
            if len(moved) > before:
                vars(module)[name] = value
    return bool(moved)


def build(construct, device, precision, seed, redraw=True, before=None):
    """What `construct()` makes on the CPU under an init seed, a model ready for calls on the device
    in the row's types; without a device it stays there. With `redraw`, no parameter or buffer is left
    constant: see model_constants. The dict `before` gets what the constructor had made of those, by
    name.
    """
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

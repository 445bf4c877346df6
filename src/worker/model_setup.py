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
# one by whoever calls them, and draws by a generator of one's own, which is the CPU's.
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


def build(construct, device, precision, seed, redraw=True, before=None):
    """What `construct()` makes under an init seed, a model ready for calls on the device in the
    row's types. With `redraw`, no parameter or buffer is left constant: see model_constants. The
    dict `before` gets what the constructor had made of those, by name.
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
    model = with_default(device, made).to(device)
    if dtype is not None:
        model = model.to(dtype)
    model.requires_grad_(False)
    return model

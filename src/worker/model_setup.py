# SPDX-License-Identifier: MIT
"""What the judge and a module candidate have to do alike, so that both build the same model."""

import random
import sys

import torch

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def dtype_of(precision):
    """The type of a precision row's floating tensors; None: they keep their own."""
    return _DTYPES.get(precision)


def set_precision(precision):
    """Global state: fp32 means fp32, unless the row is tf32."""
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = False


def seed_all(seed):
    """The state of all of Python's, numpy's and torch's random generators."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    torch.manual_seed(seed)


def short(error):
    """An exception as one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def state_of(model):
    """[(name, tensor, is_buffer)] in state_dict order."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    return [(name, tensor, name not in parameters)
            for name, tensor in model.state_dict(keep_vars=True).items()]


def redraw_constants(model):
    """Parameters and buffers that a constructor left constant would let a candidate ignore them."""
    buffers = {id(buffer) for buffer in model.buffers()}
    for tensor in list(model.parameters()) + list(model.buffers()):
        if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.is_meta:
            continue
        value = tensor.detach().reshape(-1)[0].item()
        if not bool((tensor.detach() == value).all()):
            continue
        if value != 0:
            drawn = (torch.rand_like(tensor) + 0.5) * value
        else:
            drawn = torch.randn_like(tensor) * (0.5 if id(tensor) in buffers else 0.1)
        with torch.no_grad():
            tensor.copy_(drawn)


def finish_model(model, device, precision, redraw=True):
    """A model as its constructor left it, made ready for calls on the device in the row's types."""
    dtype = dtype_of(precision)
    model = model.to(device)
    if dtype is not None:
        model = model.to(dtype)
    if redraw:
        redraw_constants(model)
    model.requires_grad_(False)
    return model

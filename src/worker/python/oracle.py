# SPDX-License-Identifier: MIT
"""The reference in another precision than its own.

The result in double precision shows the reference's own rounding error. The result in half
precision is a wrong answer that a check should catch.
"""

import copy
import gc

import torch

from kbench_worker.model_setup import short
from kbench_worker.problem_host import outputs_of

# The lower types for each floating type, the preferred one first.
_LOWER = {torch.float64: (torch.float16, torch.bfloat16),
          torch.float32: (torch.float16, torch.bfloat16), torch.float16: (torch.bfloat16,)}

_CASTS = {torch.float64: torch.nn.Module.double, torch.float16: torch.nn.Module.half,
          torch.bfloat16: torch.nn.Module.bfloat16}


def _in_type(value, dtype):
    """A copy in that type. Everything but floating tensors is copied unchanged."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype, copy=True) if value.is_floating_point() else value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_in_type(item, dtype) for item in value)
    return value


def _cast(value, dtype):
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(dtype)
    if type(value) in (list, tuple):
        return type(value)(_cast(item, dtype) for item in value)
    return value


def _cast_attributes(model, dtype):
    """Casts tensors that are neither parameters nor buffers, such as state from a call."""
    for module in model.modules():
        for name, value in vars(module).items():
            if not name.startswith("_"):
                vars(module)[name] = _cast(value, dtype)


def _outputs_in(dtype, model, inputs, earlier=()):
    """The outputs of one call in that type, after calls on `earlier`. If the model does not run in
    that type, one line with the reason.

    Model, inputs and torch's generators do not change. Tensors that forward makes itself (an LSTM's
    first state, a mask) are also of that type, unless it names another one.
    """
    devices = [0] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    default = torch.get_default_dtype()
    try:
        with torch.random.fork_rng(devices=devices), torch.no_grad():
            torch.set_default_dtype(dtype)
            copied = _CASTS[dtype](copy.deepcopy(model))
            _cast_attributes(copied, dtype)
            for arguments in earlier:
                copied(*[_in_type(item, dtype) for item in arguments])
            return outputs_of(copied(*[_in_type(item, dtype) for item in inputs]))
    except Exception as error:  # not implemented in that type, or too little memory
        gc.collect()
        if devices:
            torch.cuda.empty_cache()
        return short(error)  # the error itself would keep its tensors
    finally:
        torch.set_default_dtype(default)


def outputs(model, inputs, earlier=()):
    """The outputs of one call in double precision, after calls on `earlier`; None if the model does
    not run in it."""
    found = _outputs_in(torch.float64, model, inputs, earlier)
    return None if isinstance(found, str) else found


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _narrowest(model, inputs):
    """The type with the fewest digits among floating inputs and weights; None if there are none.

    If some of them are of a half type, a kernel may compute in it.
    """
    found = {tensor.dtype for tensor in [*_tensors(inputs), *model.state_dict().values()]
             if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()}
    return max(found, key=lambda dtype: torch.finfo(dtype).eps, default=None)


def half_outputs(model, inputs):
    """(outputs of one call in the half type below the problem's, ""), or (None, message)."""
    narrowest = _narrowest(model, inputs)
    if narrowest is None:
        return None, "the problem has no floating tensors"
    found = f"no type is narrower than {narrowest}"
    for dtype in _LOWER.get(narrowest, ()):
        found = _outputs_in(dtype, model, inputs)
        if not isinstance(found, str):
            return found, ""
    return None, f"the reference does not run in a half-precision type: {found}"

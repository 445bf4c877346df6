# SPDX-License-Identifier: MIT
"""The reference in double precision: what its own rounding is measured against."""

import copy
import gc

import torch

from kbench_worker.problem_host import outputs_of


def _double(value):
    """A copy in double precision; what is no floating tensor is copied as it is."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_double(item) for item in value)
    return value


def outputs(model, inputs):
    """The outputs of one call in double precision, or None where the model has no such path.

    Neither model nor inputs nor torch's generators change. What forward makes itself (the first
    state of an LSTM, a mask) is double, too, unless it names another type.
    """
    devices = [0] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    default = torch.get_default_dtype()
    try:
        with torch.random.fork_rng(devices=devices), torch.no_grad():
            torch.set_default_dtype(torch.float64)
            return outputs_of(copy.deepcopy(model).double()(*[_double(item) for item in inputs]))
    except Exception:  # whatever has no such path, or no room for it
        gc.collect()
        if devices:
            torch.cuda.empty_cache()
        return None
    finally:
        torch.set_default_dtype(default)

# SPDX-License-Identifier: MIT
"""Baselines: ways to run the reference that candidates are timed against."""

import os

import torch

# Baselines by torch.compile, and their modes.
_COMPILED = {
    "compile": "default",
    "compile_max_autotune_no_cudagraphs": "max-autotune-no-cudagraphs",
}
# Compilers and autotuners finish in the first call.
_WARM_UPS = 2


def use_cache(folder):
    """Keeps compiled code in the folder, so that later runs need not compile it again."""
    os.makedirs(folder, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


def prepared(name, model, arguments):
    """A callable that replaces the model, compiled by calls on these arguments."""
    if name not in _COMPILED:
        return model
    with torch.no_grad():
        compiled = torch.compile(model, mode=_COMPILED[name])
        for _ in range(_WARM_UPS):
            compiled(*arguments)
        return compiled

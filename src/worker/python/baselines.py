# SPDX-License-Identifier: MIT
"""Baselines: ways to run the reference that candidates are timed against."""

import os

import torch

# Baselines by torch.compile, and their modes.
_COMPILED = {
    "compile": "default",
    "compile_reduce_overhead": "reduce-overhead",
    "compile_max_autotune": "max-autotune",
    "compile_max_autotune_no_cudagraphs": "max-autotune-no-cudagraphs",
}
# Compilers and autotuners finish in the first call. CUDA graphs are recorded in the second call and
# replayed in the third.
_WARM_UPS = 3
_pool = None


def use_cache(folder):
    """Keeps compiled code in the folder, so that later runs need not compile it again."""
    os.makedirs(folder, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


class _Captured:
    """A call of a model on fixed arguments as a CUDA graph, which needs no launches from the host.
    Graphs share their memory, so only one of them may run at a time."""

    def __init__(self, model, arguments):
        global _pool
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UPS):
                model(*arguments)
        torch.cuda.current_stream().wait_stream(aside)
        _pool = _pool or torch.cuda.graph_pool_handle()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=_pool):
            self._result = model(*arguments)

    def __call__(self, *_):
        self._graph.replay()
        return self._result


def prepared(name, model, arguments):
    """A callable that replaces the model, compiled or captured by calls on these arguments."""
    if name not in _COMPILED and name != "cuda_graph":
        return model
    with torch.no_grad():
        if name == "cuda_graph":
            return _Captured(model, arguments)
        compiled = torch.compile(model, mode=_COMPILED[name])
        for _ in range(_WARM_UPS):
            compiled(*arguments)
        return compiled

# SPDX-License-Identifier: MIT
"""Ways to run the reference, against which candidates are timed."""

import os

import torch

# Name of each that goes through torch.compile, and its mode there.
_COMPILED = {
    "compile": "default",
    "compile_reduce_overhead": "reduce-overhead",
    "compile_max_autotune": "max-autotune",
    "compile_max_autotune_no_cudagraphs": "max-autotune-no-cudagraphs",
}
# Compilers and autotuners are through after the first call; graphs of theirs are recorded in the
# second, and the third replays them.
_WARM_UPS = 3
_pool = None


def use_cache(folder):
    """What is compiled stays in the folder, so that no later run compiles it again."""
    os.makedirs(folder, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


class _Captured:
    """Calls of models on these very arguments as a CUDA graph: what is left when nothing is launched
    from the host. Graphs share their memory: no two of them run at once."""

    def __init__(self, models, arguments):
        global _pool
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UPS):
                models[0](*arguments[0])
        torch.cuda.current_stream().wait_stream(aside)
        _pool = _pool or torch.cuda.graph_pool_handle()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=_pool):
            self._results = [model(*of_call) for model, of_call in zip(models, arguments)]

    def __call__(self, *_):
        self._graph.replay()
        return self._results[-1]


def prepared(name, model, arguments):
    """What is called as the model is, compiled or captured by calls on these arguments."""
    if name not in _COMPILED and name != "cuda_graph":
        return model
    with torch.no_grad():
        if name == "cuda_graph":
            return _Captured([model], [arguments])
        compiled = torch.compile(model, mode=_COMPILED[name])
        for _ in range(_WARM_UPS):
            compiled(*arguments)
        return compiled


def captured(models, arguments):
    """Called without arguments, a call of each model on its own, as one CUDA graph. Raises where the
    device cannot hold them so."""
    with torch.no_grad():
        return _Captured(models, arguments)

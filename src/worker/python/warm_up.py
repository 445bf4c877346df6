# SPDX-License-Identifier: MIT
"""What a process pays at first use, paid before its turn: libraries that are opened, kernels that are
loaded."""

import contextlib
import importlib
import os
import re
import sys

import torch

from kbench_worker import input_families
from kbench_worker.model_constants import redrawn


def _multiply(device):
    square = torch.zeros(64, 64, device=device)
    (square @ square).sum().item()


def _convolve(device):
    image, filters = (torch.zeros(8, 8, 8, 8, device=device) for _ in range(2))
    torch.nn.functional.conv2d(image, filters).sum().item()


def _recur(device):
    torch.nn.GRU(8, 8).to(device)(torch.zeros(1, 1, 8, device=device))[0].sum().item()


def _construct(device):
    with torch.device(device), redrawn(1) as redraws:
        redraws.finish(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)))


def _change_inputs(device):
    like = torch.linspace(-1, 1, 4096, device=device).view(64, 64)
    for name in input_families.names():
        input_families.change(name, [like.clone()], 0)


@contextlib.contextmanager
def _same_draws(device):
    """Random generators are afterwards what they were."""
    on_gpu = device.startswith("cuda")
    with torch.random.fork_rng(devices=[torch.device(device)] if on_gpu else []):
        yield


# Signs in a model's text that it calls cuBLAS or cuDNN, or draws weights.
_LIBRARIES = [
    (re.compile(r"Linear|matmul|mm\b|mv\b|einsum|tensordot|ttention|LSTM|GRU|RNN|Conv|\bconv|cublas"
                r"| @ "), _multiply),
    (re.compile(r"Conv|\bconv|LSTM|GRU|RNN|BatchNorm|batch_norm|cudnn"), _convolve),
    (re.compile(r"LSTM|GRU|RNN"), _recur),
    (re.compile(r"\bnn\.|Parameter"), _construct),
]


def warm_up(device, text=None):
    """Opens the device and the libraries that most models call, and loads kernels that most judging
    calls, which takes longer than most calls.

    With a model's text, what it seems to call alone: a guess costs time, and nothing else. Draws
    nothing: the state of random generators stays what it was.
    """
    with _same_draws(device):
        for signs, call in _LIBRARIES:
            if text is None or signs.search(text):
                call(device)
    if text is None:
        _change_inputs(device)


def keep_devices(text):
    """Before a process opens no GPU any more: that there is one it knows from here on without asking,
    and so do inductor's compilers, which are forked instead of started. `text` is its module's."""
    torch.cuda.init()
    torch.cuda.device_count()
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    os.environ["TORCHINDUCTOR_WORKER_START"] = "fork"
    if "torch._inductor.config" in sys.modules:
        sys.modules["torch._inductor.config"].worker_start_method = "fork"
    if re.search("max[-_]autotune", text):
        # What forks compile to be tuned is compiled once more here, one after the other; without
        # them threads do it at once.
        importlib.import_module("torch._inductor.config").compile_threads = 1

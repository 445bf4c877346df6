# SPDX-License-Identifier: MIT
"""Opens libraries and loads kernels in advance, before a process has device access, because their
first use is slow."""

import contextlib
import importlib
import os
import re
import sys

import torch

from kbench_worker import input_distributions
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
    for name in input_distributions.names():
        input_distributions.change(name, [like.clone()], 0)


@contextlib.contextmanager
def _same_draws(device):
    """Context that restores the random generators at its end."""
    on_gpu = device.startswith("cuda")
    with torch.random.fork_rng(devices=[torch.device(device)] if on_gpu else []):
        yield


# Patterns in a model's text that suggest calls of cuBLAS or cuDNN, or drawn weights.
_LIBRARIES = [
    (re.compile(r"Linear|matmul|mm\b|mv\b|einsum|tensordot|ttention|LSTM|GRU|RNN|Conv|\bconv|cublas"
                r"| @ "), _multiply),
    (re.compile(r"Conv|\bconv|LSTM|GRU|RNN|BatchNorm|batch_norm|cudnn"), _convolve),
    (re.compile(r"LSTM|GRU|RNN"), _recur),
    (re.compile(r"\bnn\.|Parameter"), _construct),
]


def warm_up(device, text=None):
    """Opens the device and the libraries that most models call, and loads the kernels for most
    judging. That takes longer than most calls.

    `text`: a model's source; then it opens only the parts that the text suggests, because a wrong
    guess only costs time. Does not change the state of random generators.
    """
    with _same_draws(device):
        for signs, call in _LIBRARIES:
            if text is None or signs.search(text):
                call(device)
    if text is None:
        _change_inputs(device)


def keep_devices(text):
    """Call it before a process closes its access to the GPU. Afterwards torch knows that there is a
    GPU without asking the driver, and inductor's compilers are forked instead of started. `text`:
    the module's source."""
    torch.cuda.init()
    torch.cuda.device_count()
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    os.environ["TORCHINDUCTOR_WORKER_START"] = "fork"
    if "torch._inductor.config" in sys.modules:
        sys.modules["torch._inductor.config"].worker_start_method = "fork"
    if re.search("max[-_]autotune", text):
        # Forked compilers compile kernels for tuning, which are then compiled again in this
        # process, one after another. With one compile thread there are no such forks, and threads
        # compile in parallel.
        importlib.import_module("torch._inductor.config").compile_threads = 1

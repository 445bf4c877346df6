# SPDX-License-Identifier: MIT
"""KernelBench's rules, which --kb-compat follows instead of kbench's.

Random values come from torch's CPU generator, with KernelBench's seeds and in its order. Models are
built on the CPU and moved. Every input is cast, including integers. Some of this is a defect of
KernelBench, but the verdict must equal KernelBench's.
"""

import contextlib
import time

import torch

_DTYPES = {"kb_fp32": torch.float32, "kb_fp16": torch.float16, "kb_bf16": torch.bfloat16}
SEED = 42
# torch's defaults: TF32 only in cuDNN.
DEFAULT_MODES = 2
_WARMUPS = 3
_DISCARDED = 1
_FLUSH_WORDS = (256 << 20) // 8


def applies(precision):
    """True if a precision row is one of KernelBench's."""
    return precision in _DTYPES


def set_math_modes(modes):
    """Sets torch's global state from the result of math_modes() in another process."""
    torch.backends.cuda.matmul.allow_tf32 = bool(modes & 1)
    torch.backends.cudnn.allow_tf32 = bool(modes & 2)
    torch.backends.cudnn.benchmark = bool(modes & 4)


def _allows_tf32(backend, newer):
    try:
        return bool(backend.allow_tf32)
    except RuntimeError:  # the older name fails if the newer one was set
        return newer.fp32_precision == "tf32"


def math_modes():
    """Global state that a candidate may set on import; KernelBench's reference also runs under
    it."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    return (_allows_tf32(matmul, matmul) + 2 * _allows_tf32(cudnn, getattr(cudnn, "conv", cudnn))
            + 4 * bool(cudnn.benchmark))


def trial_seeds(trials):
    """The input seed of each correctness trial, then that of the timed calls."""
    torch.manual_seed(SEED)
    return [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(trials)] + [SEED]


def _where(device):
    """Data is made on the CPU and moved, except on meta, where there is no data."""
    return torch.device("meta") if device == "meta" else contextlib.nullcontext()


def _cast(values, device, precision):
    return [value.to(dtype=_DTYPES[precision]).to(device=device)
            if isinstance(value, torch.Tensor) else value for value in values]


def init_arguments(module, device, precision):
    """The arguments of both constructors."""
    torch.manual_seed(SEED)
    with _where(device):
        arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        return _cast(arguments, device, precision)


def new_model(model_class, arguments, device, precision):
    """A model of the reference or the candidate. Its weights depend on the order in which its
    constructor draws them."""
    with torch.no_grad(), _where(device):
        torch.manual_seed(SEED)
        return model_class(*arguments).to(device=device, dtype=_DTYPES[precision])


def draw_inputs(module, device, precision, seed):
    """The inputs of one trial. Leaves the generators in the state for the trial's first call."""
    torch.manual_seed(seed)
    with _where(device):
        inputs = _cast(module.get_inputs(), device, precision)
    torch.manual_seed(seed)
    return inputs


def random_state(device):
    """The state of the torch generators that a call on the device uses, as bytes."""
    state = bytes(torch.get_rng_state().tolist())
    if device.startswith("cuda"):
        state += bytes(torch.cuda.get_rng_state(device).tolist())
    return state


def set_random_state(state, device):
    """Restores the state from random_state() in another process."""
    def tensor(part):
        return torch.frombuffer(bytearray(part), dtype=torch.uint8)

    own = torch.get_rng_state().numel()
    torch.set_rng_state(tensor(state[:own]))
    if len(state) > own:
        torch.cuda.set_rng_state(tensor(state[own:]), device)


def _time_on_cpu(model, inputs):
    start = time.perf_counter()
    model(*inputs)
    return (time.perf_counter() - start) * 1000


def _time_on_gpu(model, inputs, device):
    torch.cuda.synchronize(device)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush = torch.empty(_FLUSH_WORDS, dtype=torch.int64, device=device)
    flush.fill_(SEED)
    del flush
    start.record()
    model(*inputs)
    end.record()
    torch.cuda.synchronize(device)
    return start.elapsed_time(end)


def time_calls(model, inputs, device, calls):
    """Milliseconds of each call after the warm-up, with gradients on. Caches are flushed before
    each call.

    On the CPU this is wall-clock time, which does not measure a kernel.
    """
    if not device.startswith("cuda"):
        return [_time_on_cpu(model, inputs) for _ in range(_WARMUPS + calls)][_WARMUPS:]
    with torch.cuda.device(device):
        for _ in range(_WARMUPS):
            model(*inputs)
            torch.cuda.synchronize(device)
        torch.cuda.empty_cache()
        times = [_time_on_gpu(model, inputs, device) for _ in range(_DISCARDED + calls)]
    return times[_DISCARDED:]

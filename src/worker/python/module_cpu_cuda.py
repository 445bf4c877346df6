# SPDX-License-Identifier: MIT
"""torch.cuda without a GPU: each name maps to its CPU emulation, or reports that there is none."""

import contextlib
import functools
import sys
import time
import types

import torch

from kbench_worker.module_refusals import Unsupported, is_own_caller, refusal


def refusing(feature):
    """A function that only raises Unsupported. If a candidate's code makes such a function, its
    exception is not registered as a refusal."""
    is_own = is_own_caller(1)

    def refuse(*args, **kwargs):
        raise refusal(Unsupported(feature)) if is_own else Unsupported(feature)

    refuse.__name__ = feature.rpartition(".")[2]
    return refuse


def _refusing_class(feature):
    return type(feature.rpartition(".")[2], (), {"__init__": refusing(feature)})


class Properties(types.SimpleNamespace):
    """Properties of the emulated device: an H200 with the executor's number of multiprocessors.
    `known` overrides them, by the names of torch's properties."""

    def __init__(self, known=()):
        super().__init__(
            name="NVIDIA H200", major=9, minor=0, total_memory=150_000_000_000,
            multi_processor_count=16, warp_size=32, max_threads_per_block=1024,
            max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
            shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
            shared_memory_per_multiprocessor=233472, L2_cache_size=62_914_560, is_integrated=0,
            is_multi_gpu_board=0, clock_rate=1_980_000, memory_clock_rate=3_201_000,
            memory_bus_width=6144, pci_bus_id=0, pci_device_id=0, pci_domain_id=0,
            uuid="GPU-00000000-0000-0000-0000-000000000000", gcnArchName="")
        self.__dict__.update(known)


class _Event:
    """torch.cuda.Event. On the CPU, work is done when its call returns."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False,
                 device=None):
        self.device = torch.device("cuda", 0)
        self.cuda_event = self.event_id = 0
        self._timing = enable_timing
        self._time_s = None

    def record(self, stream=None):
        self._time_s = time.perf_counter()

    def elapsed_time(self, end_event):
        if not self._timing or not end_event._timing:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time_s is None or end_event._time_s is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time_s - self._time_s) * 1e3

    def query(self):
        return True

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass


class _Stream:
    """torch.cuda.Stream. The work of every stream runs in the calling thread."""

    def __init__(self, device=None, priority=0, **kwargs):
        self.device = torch.device("cuda", 0)
        self.device_index = self.stream_id = self.cuda_stream = 0
        self.device_type = 1
        self.priority = priority
        self._as_parameter_ = None

    def record_event(self, event=None):
        event = event or _Event()
        event.record(self)
        return event

    def query(self):
        return True

    def wait_event(self, event):
        pass

    def wait_stream(self, stream):
        pass

    def synchronize(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class _Current:
    def __init__(self):
        self.stream = _Stream()


_current = _Current()


class _StreamContext:
    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        self._outer = _current.stream
        if self.stream is not None:
            _current.stream = self.stream
        return self

    def __exit__(self, *error):
        _current.stream = self._outer


class _DeviceContext(contextlib.nullcontext):
    """torch.cuda.device(0) and torch.cuda.device_of(x): there is one device."""

    def __init__(self, device=None):
        super().__init__()
        self.idx = self.prev_idx = 0


def _set_stream(stream):
    if stream is not None:
        _current.stream = stream


def _device_index(device):
    """The device index that a caller gives. An index other than 0 is an error, as on a machine with
    one GPU."""
    index = device.index if isinstance(device, torch.device) else device
    if isinstance(index, str):
        index = torch.device(index).index
    if index not in (None, -1, 0):
        raise AssertionError("Invalid device id")
    return 0


def _of_device(value):
    def answer(device=None):
        _device_index(device)
        return value

    return answer


def _constant(value):
    return lambda *args, **kwargs: value


def _nothing(*args, **kwargs):
    return None


def _seed(*args, **kwargs):
    return torch.default_generator.seed()


_MEMORY_ZERO = ("memory_allocated", "max_memory_allocated", "memory_reserved",
                "max_memory_reserved", "memory_cached", "max_memory_cached", "utilization",
                "memory_usage", "device_memory_used")
_NOTHING = ("synchronize", "init", "ipc_collect", "empty_cache", "reset_peak_memory_stats",
            "reset_max_memory_allocated", "reset_max_memory_cached",
            "reset_accumulated_memory_stats", "reset_accumulated_host_memory_stats",
            "reset_peak_host_memory_stats", "set_per_process_memory_fraction", "_sleep",
            "set_sync_debug_mode", "caching_allocator_enable")
_UNSUPPORTED = ("graph", "make_graphed_callables", "graph_pool_handle", "caching_allocator_alloc",
                "caching_allocator_delete", "change_current_allocator", "use_mem_pool", "cudart",
                "current_blas_handle", "get_stream_from_external", "memory_snapshot",
                "list_gpu_processes")
_UNSUPPORTED_CLASSES = ("CUDAGraph", "CUDAPluggableAllocator", "MemPool", "GreenContext",
                        "ExternalStream")
_TENSOR_TYPES = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte",
                 "Bool")


def _replacements(properties):
    """{name in torch.cuda: its replacement without a GPU}"""
    capability = (properties.major, properties.minor)
    names = {
        "is_available": _constant(True),
        "is_initialized": _constant(True),
        "is_bf16_supported": _constant(True),
        "is_tf32_supported": _constant(True),
        "is_current_stream_capturing": _constant(False),
        "device_count": _constant(1),
        "current_device": _constant(0),
        "set_device": lambda device: _device_index(device) and None,
        "device": _DeviceContext,
        "device_of": _DeviceContext,
        "can_device_access_peer": _constant(False),
        "get_device_name": _of_device(properties.name),
        "get_device_capability": _of_device(capability),
        "get_device_properties": _of_device(properties),
        "get_arch_list": _constant([f"sm_{properties.major}{properties.minor}"]),
        "Event": _Event,
        "Stream": _Stream,
        "StreamContext": _StreamContext,
        "stream": _StreamContext,
        "set_stream": _set_stream,
        "current_stream": lambda device=None: _current.stream,
        "default_stream": lambda device=None: _current.stream,
        "mem_get_info": _of_device((properties.total_memory, properties.total_memory)),
        "memory_stats": _of_device({}),
        "memory_summary": lambda device=None, abbreviated=False: "",
        "get_sync_debug_mode": _constant(0),
        "manual_seed": torch.default_generator.manual_seed,
        "manual_seed_all": torch.default_generator.manual_seed,
        "seed": _seed,
        "seed_all": _seed,
        "initial_seed": torch.default_generator.initial_seed,
        "get_rng_state": lambda device="cuda": torch.default_generator.get_state(),
        "set_rng_state": lambda state, device="cuda": torch.default_generator.set_state(state),
        "get_rng_state_all": lambda: [torch.default_generator.get_state()],
        "set_rng_state_all": lambda states: torch.default_generator.set_state(states[0]),
        # torch's C++ code calls this name if it needs the driver, which is refused.
        "_lazy_init": refusing("CUDA itself"),
    }
    names.update({name: _constant(0) for name in _MEMORY_ZERO})
    names.update({name: _nothing for name in _NOTHING})
    names.update({name: refusing(f"torch.cuda.{name}") for name in _UNSUPPORTED})
    names.update({name: _refusing_class(f"torch.cuda.{name}") for name in _UNSUPPORTED_CLASSES})
    names.update({f"{name}Tensor": getattr(torch, f"{name}Tensor") for name in _TENSOR_TYPES})
    return names


# Modules that have the same functions as torch.cuda.
_HOMES = ("torch.cuda.memory", "torch.cuda.random", "torch.cuda.streams", "torch.cuda.graphs")


# torch's own ways to compile, load and launch kernels. kbench emulates the public ways elsewhere.
_PRIVATE = ("_cuda_load_module", "_nvrtc_compile", "_get_cuda_library", "_get_gpu_runtime_library",
            "_get_nvrtc_library", "_get_gpu_rtc_library")


def _refuse_private():
    utils = sys.modules.get("torch.cuda._utils")
    for name in _PRIVATE:
        if hasattr(utils, name):
            setattr(utils, name, refusing(f"torch.cuda._utils.{name}"))


def _replace_nvtx():
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(torch.cuda.nvtx, name, _constant(0))
    torch.cuda.nvtx.range = lambda *args, **kwargs: contextlib.nullcontext()
    for name in ("start", "stop"):
        setattr(torch.cuda.profiler, name, _constant(0))
    torch.cuda.profiler.profile = contextlib.nullcontext


def _replace_accelerator():
    """Replaces torch.accelerator, which looks for any device."""
    names = {"is_available": _constant(True), "device_count": _constant(1),
             "current_device_index": _constant(0), "current_device_idx": _constant(0),
             "current_accelerator": _constant(torch.device("cuda")),
             "set_device_index": _device_index, "synchronize": _nothing,
             "current_stream": torch.cuda.current_stream, "set_stream": _set_stream}
    for name, value in names.items():
        if hasattr(torch.accelerator, name):
            setattr(torch.accelerator, name, value)


def _replace_attention():
    """Ignores the choice among a GPU's attention kernels."""

    @contextlib.contextmanager
    def any_kernel(*args, **kwargs):
        yield {}

    import torch.nn.attention
    torch.nn.attention.sdpa_kernel = any_kernel
    torch.backends.cuda.sdp_kernel = any_kernel


def _replace_autocast():
    """Maps autocast for "cuda" to the CPU's, with the GPU's default type."""
    base = torch.amp.autocast_mode.autocast
    plain = base.__init__

    @functools.wraps(plain)
    def init(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype("cuda")
        plain(self, device_type, dtype, enabled, cache_enabled)

    base.__init__ = init
    enabled = torch.is_autocast_enabled
    torch.is_autocast_enabled = lambda device_type="cuda": enabled(
        "cpu" if device_type == "cuda" else device_type)


def _replace_default_type():
    """If the default is a GPU tensor type, also sets the default device."""
    plain = torch.set_default_tensor_type

    def set_default_tensor_type(wanted):
        name = wanted if isinstance(wanted, str) else ""
        if name.startswith("torch.cuda."):
            torch.set_default_device("cuda")
            wanted = name.replace("torch.cuda.", "torch.")
        plain(wanted)

    torch.set_default_tensor_type = set_default_tensor_type


class _Generator(torch._C.Generator):
    """torch.Generator: a "cuda" generator is a CPU generator."""

    def __new__(cls, device="cpu"):
        index = isinstance(device, int) and not isinstance(device, bool)
        on_cuda = index or torch.device(device).type == "cuda"
        return super().__new__(cls, "cpu" if on_cuda else device)


def replace_cuda(properties):
    """Permanently replaces every public name of torch.cuda in this process by its CPU emulation."""
    names = _replacements(properties)
    for home in ("torch.cuda", *_HOMES):
        module = sys.modules[home]
        for name, value in names.items():
            if hasattr(module, name):
                setattr(module, name, value)
    torch.cuda.default_generators = (torch.default_generator,)
    torch.cuda._initialized = True
    for name in ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter"):
        setattr(torch.cuda.nccl, name, refusing(f"torch.cuda.nccl.{name}"))
    torch.Event, torch.Stream, torch.Generator = _Event, _Stream, _Generator
    torch._C._cuda_getCurrentRawStream = _constant(0)
    torch.backends.cudnn.is_available = _constant(True)
    torch.backends.cudnn.is_acceptable = _constant(False)
    _refuse_private()
    _replace_accelerator()
    _replace_nvtx()
    _replace_autocast()
    _replace_attention()
    _replace_default_type()

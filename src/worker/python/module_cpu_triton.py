# SPDX-License-Identifier: MIT
"""Triton kernels on the CPU: Triton's own interpreter, plus the parts that need a GPU's driver."""

import importlib.util
import os
import sys
import types

import torch

from kbench_worker.module_cpu_cuda import refusing
from kbench_worker.module_cpu_libdevice import provide_libdevice
from kbench_worker.module_refusals import Unsupported, is_from_package, refusal


class _Driver:
    """triton.runtime.driver.active for the emulated device."""

    def __init__(self, device):
        properties = {"multiprocessor_count": device.multi_processor_count,
                      "max_shared_mem": device.shared_memory_per_block_optin,
                      "max_num_regs": device.regs_per_multiprocessor,
                      "warpSize": device.warp_size, "sm_clock_rate": device.clock_rate,
                      "mem_clock_rate": device.memory_clock_rate,
                      "mem_bus_width": device.memory_bus_width}
        self._capability = device.major, device.minor
        self.utils = types.SimpleNamespace(get_device_properties=lambda device=0: properties,
                                           load_binary=refusing("a compiled Triton kernel"))

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        major, minor = self._capability
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=0):
        return 0

    def get_device_capability(self, device=0):
        return self._capability

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda

    def get_benchmarker(self):
        return _run_once

    def get_empty_cache_for_benchmark(self):
        return torch.empty(1, dtype=torch.int32, device="cuda")

    def clear_cache(self, cache):
        pass


def _run_once(function, *args, quantiles=None, return_mode="mean", **kwargs):
    """triton.testing.do_bench that runs the function once and returns a constant time."""
    function()
    return [1.0] * len(quantiles) if quantiles else [1.0] if return_mode == "all" else 1.0


def _choose_first(self):
    """Autotuner.do_bench that gives all configurations the same time without running any."""
    return lambda kernel_call, quantiles=None, **kwargs: [1.0] * len(quantiles or [0.5])


def _check_arguments(arguments):
    for i, value in enumerate(arguments):
        if isinstance(value, torch.Tensor) and not value.is_cuda:
            raise ValueError(f"Pointer argument (at {i}) cannot be accessed from Triton "
                             "(cpu tensor?)")


def _patch_scalars(interpreter):
    """The interpreter's scalars are arrays of one element, which newer numpy does not convert to an
    int."""
    plain = interpreter._patch_lang_tensor

    def patch_lang_tensor(tensor, *scope):
        plain(tensor, *scope)
        put = scope[0].set_attr if scope else setattr  # older ones have no scope
        for name, kind in (("__index__", int), ("__int__", int), ("__float__", float)):
            put(tensor, name, lambda self, kind=kind: kind(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_lang_tensor


# Emptied when Triton is expected, so that candidates cannot find the functions here.
_followers = []


def follow_launches(begin, end):
    """Registers kbench's functions for the start and end of launches. `begin` counts the launch and
    opens memory that host code may not access. It returns False if the launch must do nothing."""
    _followers.append((begin, end))


def _patch_interpreter(begin_launch, end_launch):
    import triton
    from triton.runtime import interpreter
    _patch_scalars(interpreter)
    provide_libdevice(interpreter)
    plain = interpreter.GridExecutor.__call__

    def call(self, *args, **kwargs):
        _check_arguments([*args, *kwargs.values()])
        if not begin_launch():
            return None
        import numpy
        with numpy.errstate(all="ignore"), torch._C.DisableTorchFunction():
            try:
                return plain(self, *args, **kwargs)
            except interpreter.InterpreterError as error:
                missing = error.__cause__
                is_missing = isinstance(missing, NotImplementedError) or (
                    isinstance(missing, AttributeError) and "InterpreterBuilder" in str(missing))
                # Only errors from Triton's own code are used, because a kernel is Python here and
                # may raise anything.
                if is_missing and is_from_package(missing, triton):
                    raise refusal(Unsupported(f"Triton's interpreter ({missing})")) from error
                raise
            finally:
                end_launch()

    interpreter.GridExecutor.__call__ = call
    interpreter.InterpretedFunction.warmup = refusing("a Triton kernel's warmup()")


def _patch_triton(device, begin_launch, end_launch):
    import triton.testing
    from triton.runtime import autotuner
    from triton.runtime.driver import driver
    driver.set_active(_Driver(device))
    autotuner.Autotuner.do_bench = property(_choose_first)
    triton.testing.do_bench = _run_once
    triton.testing.do_bench_cudagraph = _run_once
    _patch_interpreter(begin_launch, end_launch)


class _TritonFinder:
    """Patches Triton when a candidate imports it. Importing it is slow, and most candidates do
    not."""

    def __init__(self, patch):
        self._patch = patch

    def find_spec(self, name, path=None, target=None):
        if name != "triton":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            plain = spec.loader.exec_module

            def exec_module(module):
                plain(module)
                self._patch()

            spec.loader.exec_module = exec_module
        return spec


def _forget_triton():
    """Unloads Triton, which torch may have imported, because Triton chooses its mode on import. Its
    compiled parts stay loaded."""
    for name in list(sys.modules):
        if (name + ".").startswith("triton.") and not name.startswith("triton._C"):
            del sys.modules[name]


def expect_triton(device):
    """Makes Triton interpret its kernels if it is imported later."""
    os.environ["TRITON_INTERPRET"] = "1"
    _forget_triton()
    begin, end = _followers.pop() if _followers else (lambda: True, lambda: None)
    sys.meta_path.insert(0, _TritonFinder(lambda: _patch_triton(device, begin, end)))

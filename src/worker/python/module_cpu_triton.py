# SPDX-License-Identifier: MIT
"""Triton kernels on the CPU: Triton's own interpreter, with what it leaves to a GPU's driver."""

import importlib.util
import os
import sys
import types

import torch

from kbench_worker.module_cpu_cuda import refusing
from kbench_worker.module_cpu_libdevice import provide_libdevice
from kbench_worker.module_refusals import Unsupported, is_from_package, refusal


class _Driver:
    """triton.runtime.driver.active: the device that candidates seem to have."""

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
    """triton.testing.do_bench, for callers that only want it to return."""
    function()
    return [1.0] * len(quantiles) if quantiles else [1.0] if return_mode == "all" else 1.0


def _choose_first(self):
    """Autotuner.do_bench: all configurations are equal, and none is run to find that out."""
    return lambda kernel_call, quantiles=None, **kwargs: [1.0] * len(quantiles or [0.5])


def _check_arguments(arguments):
    for i, value in enumerate(arguments):
        if isinstance(value, torch.Tensor) and not value.is_cuda:
            raise ValueError(f"Pointer argument (at {i}) cannot be accessed from Triton "
                             "(cpu tensor?)")


def _patch_scalars(interpreter):
    """Scalars of the interpreter are arrays of one element, which numpy no longer makes an int."""
    plain = interpreter._patch_lang_tensor

    def patch_lang_tensor(tensor, *scope):
        plain(tensor, *scope)
        put = scope[0].set_attr if scope else setattr  # older ones have no scope
        for name, kind in (("__index__", int), ("__int__", int), ("__float__", float)):
            put(tensor, name, lambda self, kind=kind: kind(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_lang_tensor


# Until Triton is expected; then no name of this module leads to them.
_followers = []


def follow_launches(begin, end):
    """Has launches begin and end with these functions of kbench's. The first counts, opens the
    memory that host code may not touch, and says whether the launch is to do anything."""
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
                # A kernel may raise what it likes: it is Python here.
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
    """Patches Triton when a candidate imports it: most do not, and importing it takes a while."""

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
    """Triton chooses as it is imported, and torch may have done that; compiled parts stay."""
    for name in list(sys.modules):
        if (name + ".").startswith("triton.") and not name.startswith("triton._C"):
            del sys.modules[name]


def expect_triton(device):
    """Makes the Triton that is imported from here on interpret its kernels."""
    os.environ["TRITON_INTERPRET"] = "1"
    _forget_triton()
    begin, end = _followers.pop() if _followers else (lambda: True, lambda: None)
    sys.meta_path.insert(0, _TritonFinder(lambda: _patch_triton(device, begin, end)))

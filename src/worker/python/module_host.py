# SPDX-License-Identifier: MIT
"""Runs a module candidate (KernelBench's ModelNew) in the candidate's own process.

The functions raise CandidateFailure for the candidate's own faults, and DryImportStop if a dry
import cannot continue. Tensors are passed as they are, everything else as plain values.
"""

import ast
import contextlib
import importlib
import inspect
import io
import logging
import os
import sys
import types
import weakref

import torch

from kbench_worker import (kernelbench_rules, model_state, module_cpu, module_extension,
                           module_weights, problem_names)
from kbench_worker.model_setup import build, host_tensors, move_host_tensors
from kbench_worker.module_extension import DryImportStop
from kbench_worker.module_failure import (CandidateFailure, Source, failure_from, log_of,
                                          speaks_of_host)
from kbench_worker.module_refusals import seal

_MODULE_NAME = "kbench_candidate"
# Saved before candidate code runs. A candidate that replaces it cannot use it to detect calls.
_memory_snapshot = getattr(torch._C, "_cuda_memorySnapshot", None)
_LONGEST_NAME = 120  # bytes: other programs extend the name

# True if a call failed because of tensors on the host and they were moved to the device.
_moved_host_tensors = False
_called = {}  # id of a model: a weak reference to it, from its first call on


class _Output(io.TextIOBase):
    """A candidate's output stream; drops output beyond the log's size."""

    def __init__(self, descriptor):
        super().__init__()
        self._descriptor = descriptor

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self._descriptor

    def write(self, text):
        data = text.encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(self._descriptor, data):]
        except OSError:
            pass
        return len(text)


def import_ahead():
    """Imports slow packages that most candidates need, without opening a GPU. The fork server calls
    it once for all candidates."""
    # The import looks for a GPU and then warns of a missing CUDA toolkit, which kbench does not
    # need.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    is_available, torch.cuda.is_available = torch.cuda.is_available, lambda: False
    try:
        importlib.import_module("torch.utils.cpp_extension")
    finally:
        torch.cuda.is_available = is_available


def prepare(on_cpu, known=()):
    """Prepares the process before any candidate code: imports slow packages, and on the CPU sets up
    the meaning of "cuda".

    `known`: {name: value} of the properties that torch reports of the emulated device.
    """
    sys.stdout, sys.stderr = _Output(1), _Output(2)
    import_ahead()
    if on_cpu:
        module_cpu.enter(known)
    seal()


def _file_name(path):
    """A valid file name from a candidate's name, which may be any text."""
    name = os.path.basename(path).replace("\0", "").encode("utf-8", "replace")
    if name in (b"", b".", b".."):
        return "candidate.py"
    if len(name) > _LONGEST_NAME:
        name = name[:_LONGEST_NAME - 3] + b".py"
    return name.decode("utf-8", "ignore")


def _write(path, source, folder):
    """Writes the source to a file where inspect finds it, because Triton and torch.compile read
    it."""
    Source.name = _file_name(path)
    Source.file = os.path.join(folder, Source.name)
    data = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
    with open(Source.file, "wb") as file:
        file.write(data)
    return data


def _compiled(data, changes):
    try:
        # Ignores a "# coding:" line, because users read the source as UTF-8.
        text = data.decode("utf-8")
        if changes:
            # The syntax tree may be too deep for Python's compiler.
            with contextlib.suppress(RecursionError):
                tree = ast.parse(text, Source.file)
                problem_names.follow(tree, changes)
                return compile(tree, Source.file, "exec", dont_inherit=True)
        return compile(text, Source.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        place = f"{Source.name}:{line}: " if line else f"{Source.name}: "
        why = getattr(error, "msg", None) or str(error)
        raise CandidateFailure("import_failed", f"{place}not valid Python: {why}") from None


def load_candidate(path, source, folder, request_compile, names=None, changes=None,
                   by_kernelbench=False):
    """Loads a candidate's module: `source` (bytes) as `folder`/<name of path>.

    `request_compile`: see module_extension.install. `names`: {name: value} of names that the module
    has before its code runs. Constants in `changes` follow the sizes of the run (see
    problem_names). By KernelBench's rules ModelNew may be any callable.
    """
    code = _compiled(_write(path, source, folder), changes)
    module_extension.install(request_compile, module_cpu.active(), os.path.realpath(folder))
    module = types.ModuleType(_MODULE_NAME)
    module.__dict__.update(names or {})
    module.__file__ = Source.file
    sys.modules[_MODULE_NAME] = module
    if not getattr(sys, "argv", None):
        sys.argv = [Source.file]
    try:
        exec(code, module.__dict__)
    except DryImportStop:
        raise
    except BaseException as error:
        raise failure_from(error, "import_failed") from error
    if not hasattr(module, "ModelNew"):
        raise CandidateFailure("no_modelnew", f"{Source.name} has no ModelNew")
    if not inspect.isclass(module.ModelNew) and not (by_kernelbench and callable(module.ModelNew)):
        raise CandidateFailure("no_modelnew", f"{Source.name}: ModelNew is not a class")
    return module


def _does_not_fit(function, arguments):
    """Why a function cannot be called with these arguments, or None if it can."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        return str(error)
    except ValueError:
        pass
    return None


def device_of(device):
    """The device's name in this process."""
    return "cuda" if module_cpu.active() else device


def build_model(module, init_arguments, device, precision, seed, redraw=True):
    """A new ModelNew, built as problem_host.build_model builds the reference's Model. Without
    `redraw`, for a dry import, it stays on its device."""

    def construct():
        model = module.ModelNew(*init_arguments)
        if not isinstance(model, torch.nn.Module):
            raise CandidateFailure("no_modelnew",
                                   f"{Source.name}: ModelNew is not a torch.nn.Module")
        return model

    device = device_of(device)
    try:
        if kernelbench_rules.applies(precision):
            return kernelbench_rules.new_model(module.ModelNew, init_arguments, device, precision)
        before = {}
        model = build(construct, device if redraw else None, precision, seed, redraw, before)
        module_weights.remember(model, before)
        return model
    except DryImportStop:
        raise
    except BaseException as error:
        reason = isinstance(error, TypeError) and _does_not_fit(module.ModelNew, init_arguments)
        if reason:
            raise CandidateFailure(
                "wrong_init_signature",
                f"{Source.name}: ModelNew does not take the {len(init_arguments)} init arguments "
                f"of the reference: {reason}", log_of(error)) from error
        raise failure_from(error, "init_raised") from error


def _overlaps(tensor):
    """True if several elements share one address. Gaps between elements are allowed, because
    problems' own outputs have them."""
    reached = 0
    for stride, size in sorted((stride, size) for size, stride in
                               zip(tensor.shape, tensor.stride()) if size != 1):
        if stride <= reached:
            return tensor.numel() > 0
        reached += stride * (size - 1)
    return False


def check_output(output):
    """Raises if an output is not a plain dense tensor."""
    if not isinstance(output, torch.Tensor):
        raise CandidateFailure("not_a_tensor",
                               f"ModelNew returns a {type(output).__name__}, not a tensor")
    if type(output) not in (torch.Tensor, torch.nn.Parameter):
        raise CandidateFailure("not_plain", "ModelNew returns a tensor subclass "
                               f"{type(output).__name__}, not a plain tensor")
    if output.layout is not torch.strided or output.is_nested or output.is_quantized:
        raise CandidateFailure("not_plain", f"ModelNew returns a tensor of layout {output.layout}, "
                               "not a plain dense one")
    if output.is_neg() or output.is_conj():
        raise CandidateFailure("not_plain", "ModelNew returns a view that is negated or conjugated "
                               "when it is read, not a plain tensor")
    if _overlaps(output):
        raise CandidateFailure("overlapping", "ModelNew returns a view whose elements share "
                               f"memory: strides {tuple(output.stride())} for shape "
                               f"{tuple(output.shape)}")


def structure_of(result):
    if isinstance(result, tuple):
        return "tuple"
    return "list" if isinstance(result, list) else "tensor"


def enter_eval_mode(model):
    """Puts the model in eval mode by its own eval()."""
    try:
        model.eval()
    except BaseException as error:
        raise failure_from(error, "forward_raised") from error


def forward(model, arguments):
    """Returns the result of one call, of any type."""
    try:
        with torch.no_grad():
            return model(*arguments)
    except DryImportStop:
        raise
    except BaseException as error:
        reason = isinstance(error, TypeError) and _does_not_fit(model.forward, arguments)
        if reason:
            raise CandidateFailure(
                "wrong_signature", f"{Source.name}: forward does not take the {len(arguments)} "
                f"inputs of the reference: {reason}", log_of(error)) from error
        raise failure_from(error, "forward_raised") from error


def _is_first_call(model):
    known = _called.get(id(model))  # fast, for timed calls; torch's own weak tables take 10 us
    if known is not None and known() is model:
        return False
    _called[id(model)] = weakref.ref(model)
    return True


class _Before:
    """A copy of a model's buffers and host tensors, made before its first call."""

    def __init__(self, model):
        tensors = host_tensors(model)
        tensors = [*model.buffers(), *tensors] if tensors else []
        self._values = [(tensor, tensor.detach().clone()) for tensor in tensors]
        self._tables = [(module._buffers, dict(module._buffers)) for module in model.modules()]

    def restore(self):
        for table, before in self._tables:
            table.update(before)
        for tensor, value in self._values:
            # A copy fails if elements of a view share an address; then calls cannot write to it
            # either.
            with contextlib.suppress(RuntimeError), torch.no_grad():
                tensor.copy_(value)


def _forward_beside_host(model, arguments, device):
    """Returns the result of one call. If it fails because the constructor left tensors on the host
    that are neither parameters nor buffers, moves them and repeats the call."""
    global _moved_host_tensors
    before = None
    if isinstance(model, torch.nn.Module) and _is_first_call(model):
        before = _Before(model)
    try:
        return forward(model, arguments)
    except CandidateFailure as failure:
        if not speaks_of_host(failure) or not isinstance(model, torch.nn.Module):
            raise
        if before is not None:
            before.restore()
        if not move_host_tensors(model, device):
            raise
    model_state.stays_on(model, device)
    _moved_host_tensors = True
    return forward(model, arguments)


def call(model, arguments, device="cuda"):
    """(structure, outputs) of one call. Structure is "tensor", "tuple" or "list"; outputs is a flat
    list of tensors."""
    result = _forward_beside_host(model, arguments, device_of(device))
    structure = structure_of(result)
    outputs = [result] if structure == "tensor" else list(result)
    wanted = torch.device(device_of(device)).type
    for output in outputs:
        check_output(output)
        if output.device.type != wanted:
            raise CandidateFailure("wrong_device", f"ModelNew returns a tensor on {output.device}, "
                                   f"not on {wanted}")
    return structure, outputs


def _segments():
    # Segments of torch's own pool, without the history. An older torch lacks this argument, and
    # another allocator does not support snapshots.
    for asked in ((0, 0, False), None):
        with contextlib.suppress(TypeError, RuntimeError):
            return _memory_snapshot(asked)["segments"]
    return []


def free_memory():
    """[(address, bytes)] of GPU memory that torch's allocator keeps free for its next tensors."""
    free = []
    for segment in _segments():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                free.append((address, block["size"]))
            address += block["size"]
    return free


def failure_of(error):
    """(cause, message, log) of an exception of one of these functions."""
    failure = failure_from(error, "candidate_raised")
    return failure.cause, str(failure), failure.log


def moved_host_tensors():
    """True if a call needed tensors that its constructor had left on the host."""
    return _moved_host_tensors


def flags():
    """Flags for features that were skipped while the candidate ran."""
    return list(module_cpu.flags)

# SPDX-License-Identifier: MIT
"""Turns an exception of a module candidate into a cause, a message and a traceback."""

import os
import re
import traceback

import torch

from kbench_worker import module_cpu
from kbench_worker.model_setup import printable, short
from kbench_worker.module_extension import BuildError
from kbench_worker.module_refusals import (Unsupported, is_own_caller, is_refusal,
                                           operator_without_kernel, refusal)


_NO_SHARED_MEMORY = re.compile(r"unable to open shared memory object <[^>]*>.*Permission denied")
# Messages of torch, Triton and extensions' checks about a tensor that is not on the GPU.
_BESIDE_HOST = re.compile(
    r"same device|different devices|cannot be accessed from|Input type .{0,99} should be the same"
    r"|\b(?:on|from) (?:the )?'?(?:cpu|host)\b|\bcpu tensor"
    r"|\b(?:must|should|be|not|expect\w*|only|needs?|requires?)\b[^.\n]{0,80}\b(?:cuda|gpu|device)\b"
    r"|\b(?:cuda|gpu) tensors?\b|\bis_cuda\b|\.device\b", re.IGNORECASE)


class CandidateFailure(Exception):
    """The candidate's own failure: a cause slug, one sentence, and Python's traceback, if any."""

    def __init__(self, cause, message, log=""):
        super().__init__(printable(message))
        self.cause = cause
        self.log = printable(log)


class Source:
    """The path of the candidate's file, and the name that its author knows."""

    file = ""
    name = ""


def _chain(error):
    """An exception and its causes, the latest first."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _said(error):
    """An exception's text; for an assertion without text, the line of source."""
    text = str(error)
    if text or not isinstance(error, AssertionError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].line if frames and frames[-1].line else ""


def speaks_of_host(failure):
    """True if a tensor on the host, which was needed on the GPU, may have caused a failure."""
    return failure.cause == "forward_raised" and any(
        _BESIDE_HOST.search(_said(error)) for error in _chain(failure.__cause__))


def _frames(error):
    return [frame for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == Source.file]


def _told(error):
    """The exception with the most useful text. Triton's interpreter wraps each exception in its
    own."""
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    return error


def _place(error):
    """"name.py:12: ", the line of the candidate's own file that raised the error."""
    if isinstance(error, SyntaxError) and error.filename == Source.file:
        return f"{Source.name}:{error.lineno}: "
    # The innermost cause is best, because an interpreter of kernels has the kernel's own line
    # there.
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    for cause in reversed(causes):
        frames = _frames(cause)
        if frames:
            return f"{Source.name}:{frames[-1].lineno}: "
    return f"{Source.name}: "


def log_of(error):
    text = "".join(traceback.format_exception(error))
    return text.replace(Source.file, Source.name) if Source.file else text


def _may_say(error):
    """True if the exception may decide the cause. Candidates can raise exceptions of kbench's
    types, or imitations of them, but only the cause `unsupported` would help them."""
    return is_refusal(error) or (
        type(error) in (CandidateFailure, BuildError) and type(error.cause) is str
        and error.cause != "unsupported")


def _special_cause(error):
    """(cause, message) of an exception that means the same wherever it was raised, else None."""
    for inner in _chain(error):
        if isinstance(inner, Unsupported) and is_refusal(inner):
            return "unsupported", str(inner)
        if isinstance(inner, BuildError) and _may_say(inner):
            return inner.cause, inner.sentence
    operator = operator_without_kernel(error) if module_cpu.active() else None
    if operator is not None:
        return "unsupported", f"the operator {operator} cannot be run without a GPU"
    if isinstance(error, SystemExit):
        return "exits", f"the candidate exits (code {error.code})"
    # torch makes a RuntimeError of the exception of kbench's own allocator.
    if (isinstance(error, (torch.OutOfMemoryError, MemoryError))
            or (isinstance(error, RuntimeError) and "std::bad_alloc" in str(error))):
        return "out_of_memory", short(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return "missing_package", f"the package {error.name} is not installed"
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return "missing_file", f"the file {os.fsdecode(error.filename)} does not exist"
    if isinstance(error, PermissionError) and error.filename is not None:
        return "no_permission", (f"{os.fsdecode(error.filename)} cannot be accessed: the sandbox "
                                 "allows files that the system and Python have installed, the "
                                 "candidate's own folder (TMPDIR is in it) and, if the machine "
                                 "supports it, a private /tmp (kbench doctor lists what the "
                                 "sandbox lacks; --no-sandbox runs your own kernels without it)")
    if isinstance(error, RuntimeError) and _NO_SHARED_MEMORY.match(str(error)):
        return "no_permission", ("shared memory cannot be accessed: this machine does not let "
                                 "kbench give candidates a private /dev/shm (kbench doctor lists "
                                 "what the sandbox lacks; --no-sandbox runs your own kernels without "
                                 "it)")
    accelerator_error = getattr(torch, "AcceleratorError", ())
    if isinstance(error, accelerator_error) or str(error).startswith("CUDA error"):
        return "cuda_error", short(error)
    return None


def failure_from(error, cause):
    """The CandidateFailure for any exception that candidate code raised."""
    if isinstance(error, CandidateFailure) and _may_say(error):
        return error
    cause, message = _special_cause(error) or (cause, short(_told(error)))
    failure = CandidateFailure(cause, _place(error) + message, log_of(error))
    # Only kbench's own calls are registered, because a candidate could call this with any cause.
    return refusal(failure) if is_own_caller(1) else failure

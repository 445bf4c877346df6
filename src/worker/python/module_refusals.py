# SPDX-License-Identifier: MIT
"""Features that cannot run without a GPU, and exceptions that may report them.

A report on the CPU excludes `unsupported` from its denominators. So a candidate's own exception
must never be treated as `unsupported`, whatever its type and text. Two kinds of exceptions are:
kbench's refusals, identified by the very objects that `refusal` registered; and errors that torch
and Triton raised themselves and that are correct.

After `seal` was called, only kbench's own code can register a refusal or name a feature. If a
candidate calls these functions itself, its exception is not registered.

Limits: a candidate may use a refused feature (torch.cuda.CUDAGraph()) only to be refused. Its code
does not differ from code that needs the feature. Its own C++ code may raise torch's message about
an operator that the CPU lacks, instead of calling the operator. Python hides nothing from code in
the same process, which can replace any function here and send messages itself. So reports count
`unsupported` as wrong.
"""

import dis
import os
import re
import sys
import types
import weakref

import torch

# References taken before any candidate runs.
_has_any_kernel = torch._C._dispatch_has_computed_kernel_for_dispatch_key
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key


class Unsupported(RuntimeError):
    """A feature, by name, that cannot run without a GPU. It is a RuntimeError, like torch's own
    errors about missing GPU features.

    Raise it through `refusal`; if it is not registered, it has no special meaning.
    """

    def __init__(self, feature):
        super().__init__(f"{feature} cannot be run without a GPU")
        self.feature = feature


def _code_of(value, found):
    """Adds the code of a function or a class, and all code within it, to {id: code}."""
    if isinstance(value, types.CodeType):
        if id(value) not in found:
            found[id(value)] = value
            for constant in value.co_consts:
                _code_of(constant, found)
    elif isinstance(value, types.FunctionType):
        _code_of(value.__code__, found)
        if hasattr(value, "__wrapped__"):
            _code_of(value.__wrapped__, found)
    elif isinstance(value, (classmethod, staticmethod)):
        _code_of(value.__func__, found)
    elif isinstance(value, type) and value.__module__.startswith("kbench_worker"):
        for member in vars(value).values():
            _code_of(member, found)
    elif hasattr(value, "__wrapped__") and callable(value):  # wrapped by functools.lru_cache
        _code_of(value.__wrapped__, found)


def _registry():
    # A weak set, because a strong set of exceptions would keep their frames' tensors.
    known = weakref.WeakSet()
    own = {}  # code objects by id; a candidate's equal code has another id

    def seal():
        """After the first call, only kbench code that existed at that time may register
        refusals."""
        if own:
            return
        found = {}
        for name, module in list(sys.modules.items()):
            if name.startswith("kbench_worker.") and isinstance(module, types.ModuleType):
                for value in list(vars(module).values()):
                    _code_of(value, found)
        own.update(found)

    def is_own_caller(depth):
        """True if kbench's code called the function `depth` frames above the caller."""
        return not own or id(sys._getframe(depth + 1).f_code) in own

    def refusal(error):
        """Registers the error if kbench itself calls this, and returns it."""
        if is_own_caller(1):
            known.add(error)
        return error

    def is_refusal(error):
        """Compares by identity, because a candidate's class may define equality."""
        return any(one is error for one in known)

    return seal, is_own_caller, refusal, is_refusal


seal, is_own_caller, refusal, is_refusal = _registry()


def _innermost(error):
    """The traceback entry that raised the error, or that called the C++ function which raised it.
    """
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry


def _comes_from_a_statement(entry):
    """True if a `raise` statement raised it, not a C function."""
    return any(step.offset == entry.tb_lasti and step.opname.startswith(("RAISE", "RERAISE"))
               for step in dis.get_instructions(entry.tb_frame.f_code))


def operator_without_kernel(error):
    """The operator for which torch found no CPU kernel. None if the error says something else,
    torch did not raise it, or a kernel exists."""
    told = re.match(r"Could not run '([^']*)' .* 'CPU' backend", str(error))
    entry = _innermost(error)
    if not isinstance(error, NotImplementedError) or told is None or entry is None:
        return None
    if _comes_from_a_statement(entry):
        return None
    name = told[1]
    try:
        # A candidate's own operator without any kernel is unfinished, not unsupported.
        is_meant = name.startswith("aten::") or _has_kernel(name, "CUDA")
        return name if is_meant and not _has_any_kernel(name, "CPU") else None
    except RuntimeError:  # no such operator
        return None


def is_from_package(error, package):
    """True if the package itself raised the error, and not code that it called."""
    entry = _innermost(error)
    folder = os.path.dirname(os.path.abspath(package.__file__)) + os.sep
    return entry is not None and entry.tb_frame.f_code.co_filename.startswith(folder)

# SPDX-License-Identifier: MIT
"""What cannot be run without a GPU, and when an exception is believed to say so.

`unsupported` leaves the denominators of a report on the CPU: what a candidate raises of its own
must not mean it, whatever its type and text. Believed are kbench's refusals, by the very objects
that `refusal` made known, and torch's and Triton's errors that come from there and are true.

Only kbench's own code can make one known once `seal` was called, and no other code can name a
feature then: an exception of a candidate that calls these functions itself is like any other.

What remains: a candidate may ask for something that is refused (torch.cuda.CUDAGraph()) in order to
be refused, which is no lie, and its code alone does not differ from one that needs the thing.
Its own C++ code may raise torch's words of an operator that the CPU does lack, instead of calling it.
Python keeps nothing from code in the same process, which can replace any function here and send
messages itself. So reports count what is `unsupported` as wrong.
"""

import dis
import os
import re
import sys
import types
import weakref

import torch

# As they are before any candidate runs.
_has_any_kernel = torch._C._dispatch_has_computed_kernel_for_dispatch_key
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key


class Unsupported(RuntimeError):
    """What this mode cannot run, by its name. A RuntimeError, as a missing feature of a GPU is.

    Raise it through `refusal`; one that is not known is like any other exception.
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
    elif hasattr(value, "__wrapped__") and callable(value):  # behind functools.lru_cache
        _code_of(value.__wrapped__, found)


def _registry():
    # Exceptions in a strong set would keep their frames' tensors.
    known = weakref.WeakSet()
    own = {}  # code objects by id: equal code of a candidate is another object

    def seal():
        """From the first call on only kbench's code that is there then is believed."""
        if own:
            return
        found = {}
        for name, module in list(sys.modules.items()):
            if name.startswith("kbench_worker.") and isinstance(module, types.ModuleType):
                for value in list(vars(module).values()):
                    _code_of(value, found)
        own.update(found)

    def is_own_caller(depth):
        """Whether kbench's code called the function that asks, `depth` frames above it."""
        return not own or id(sys._getframe(depth + 1).f_code) in own

    def refusal(error):
        """The error, believed from now on, if kbench itself asks for it."""
        if is_own_caller(1):
            known.add(error)
        return error

    def is_refusal(error):
        """By identity: equality is a matter of the candidate's classes."""
        return any(one is error for one in known)

    return seal, is_own_caller, refusal, is_refusal


seal, is_own_caller, refusal, is_refusal = _registry()


def _innermost(error):
    """Where it was raised, or where the C++ function was called that raised it."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry


def _comes_from_a_statement(entry):
    """Whether it was a `raise` that raised it, and no function without a frame."""
    return any(step.offset == entry.tb_lasti and step.opname.startswith(("RAISE", "RERAISE"))
               for step in dis.get_instructions(entry.tb_frame.f_code))


def operator_without_kernel(error):
    """The operator that torch found no kernel of the CPU for, or None where the error does not say
    so, torch did not raise it, or there is one."""
    told = re.match(r"Could not run '([^']*)' .* 'CPU' backend", str(error))
    entry = _innermost(error)
    if not isinstance(error, NotImplementedError) or told is None or entry is None:
        return None
    if _comes_from_a_statement(entry):
        return None
    name = told[1]
    try:
        # One of the candidate's own that has no kernel at all is unfinished.
        is_meant = name.startswith("aten::") or _has_kernel(name, "CUDA")
        return name if is_meant and not _has_any_kernel(name, "CPU") else None
    except RuntimeError:  # there is no such operator
        return None


def is_from_package(error, package):
    """Whether the module's package raised it, not code that it called."""
    entry = _innermost(error)
    folder = os.path.dirname(os.path.abspath(package.__file__)) + os.sep
    return entry is not None and entry.tb_frame.f_code.co_filename.startswith(folder)

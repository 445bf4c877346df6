# SPDX-License-Identifier: MIT
"""The values of a problem that a candidate's process gets.

A process with only kbench's code imports the problem's file and packs its constants, its imports
and the constructor's arguments. The candidate's process unpacks them. It never gets the file's text
or path, or its classes and functions, such as the reference.

An object of a class in the file becomes an object of the same name with the same attributes,
without methods. Functions and classes of the file, modules of the reference's classes, and values
that cannot be pickled become None. Both cases are noted.
"""

import collections
import enum
import importlib
import io
import pickle
import sys
import types

import torch

from kbench_worker import light_meta, problem_host, problem_names

# The module name that problem_host.load() gives a problem's file.
_PROBLEM = "kbench_problem"
_PROTOCOL = 5
_PLAIN_BASES = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)


def _is_of_problem(kind):
    return getattr(kind, "__module__", None) == _PROBLEM


def _nothing():
    return None


def _blank(shape, kind):
    """A tensor for a dry import, in whose process "cuda" tensors have no values."""
    return torch.empty(shape, dtype=kind, device="cuda")


def _object(name):
    return type(name, (types.SimpleNamespace,), {})()


def _named_tuple(name, fields, values):
    return collections.namedtuple(name, fields)(*values)


def _attributes_of(value):
    """An object's attributes, from __dict__ and slots."""
    slots = [name for kind in type(value).__mro__ for name in
             ([kind.__dict__["__slots__"]] if isinstance(kind.__dict__.get("__slots__"), str)
              else kind.__dict__.get("__slots__", ()))]
    found = {name: getattr(value, name) for name in slots
             if not name.startswith("__") and hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return found


def _is_importable(function):
    """True if a class or a function can be found by its name."""
    found = sys.modules.get(getattr(function, "__module__", None) or "builtins")
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is function


class _Pickler(pickle.Pickler):
    """Pickles values so that a process with the problem's libraries can unpickle them. `is_whole`:
    True if nothing was left out or replaced. With `blanks`, tensors have only shapes and types."""

    def __init__(self, file, blanks=False):
        super().__init__(file, _PROTOCOL)
        self.is_whole = True
        self._blanks = blanks

    def _leave_out(self):
        self.is_whole = False
        return _nothing, ()

    def reducer_override(self, value):
        if self._blanks and isinstance(value, torch.Tensor):
            return _blank, (tuple(value.shape), value.dtype)
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, (type, types.FunctionType)):
            return NotImplemented if not _is_of_problem(value) and _is_importable(value) else (
                self._leave_out())
        if isinstance(value, types.MethodType) and _is_of_problem(type(value.__self__)):
            return self._leave_out()
        if _is_of_problem(type(value)):
            return self._stand_in(value)
        return NotImplemented

    def _stand_in(self, value):
        if isinstance(value, (torch.nn.Module, torch.Tensor)):
            return self._leave_out()
        self.is_whole = False
        name = type(value).__name__
        if isinstance(value, enum.Enum):
            return _object, (name,), {"name": value.name, "value": value.value}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return _named_tuple, (name, tuple(value._fields), tuple(value))
        for base in _PLAIN_BASES:
            if isinstance(value, base):
                return base, (base(value),)
        return _object, (name,), _attributes_of(value)


def _pickled(value, blanks=False):
    """(bytes, True if nothing of the value is missing)."""
    file = io.BytesIO()
    pickler = _Pickler(file, blanks)
    pickler.dump(value)
    return file.getvalue(), pickler.is_whole


def _checked(value):
    """The result of _pickled; raises if the bytes cannot be unpickled."""
    data, is_whole = _pickled(value)
    if not is_whole:
        pickle.loads(data)
    return data, is_whole


def pack_list(values):
    """(bytes, True if nothing is missing) of a list. Values that cannot be sent become None."""
    values = list(values)
    try:
        return _checked(values)
    except Exception:
        pass
    for i, value in enumerate(values):
        try:
            _checked(value)
        except Exception:
            values[i] = None
    return _pickled(values)[0], False


def pack_init_arguments(module, device, precision, seed):
    """The packed arguments of the constructor under an init seed, and True if nothing is missing.
    """
    return pack_list(problem_host.init_arguments(module, device, precision, seed))


# Global state of torch that a problem's file may set for reference and candidate: name → (getter,
# default, setter).
_STATE = {
    "dtype": (torch.get_default_dtype, torch.float32, torch.set_default_dtype),
    "device": (lambda: str(torch.get_default_device()), "cpu", torch.set_default_device),
    "deterministic": (torch.are_deterministic_algorithms_enabled, False,
                      torch.use_deterministic_algorithms),
}


def _init_of_a_dry_import(module, precision):
    """The constructor's arguments for a dry import. Only shapes matter there, and they do not
    depend on a seed."""
    try:
        return pack_list(problem_host.init_arguments(module, "cpu", precision, 0))[0]
    except Exception:
        return None  # the judge reports the error


def _inputs_as_shapes(module, precision):
    """A call's inputs, pickled without values; None if the problem cannot draw them on the meta
    device."""
    try:
        with light_meta.without_compiler():
            inputs = problem_host.draw_inputs(module, "meta", precision, 0)
        return _pickled(inputs, blanks=True)[0]
    except Exception:
        return None


def pack(module, precision):
    """The values of the problem `module` that a candidate's process gets at its start, packed."""
    imports = module.kbench_imports
    imported = {name for name, _ in imports}
    state = {name: read() for name, (read, usual, _) in _STATE.items() if read() != usual}
    return pickle.dumps({
        "imports": imports,
        "constants": {name: value for name, value in module.kbench_given.items()
                      if name not in imported and problem_names.is_plain(value)},
        "changed": module.kbench_changed,
        "state": state,
        "init": _init_of_a_dry_import(module, precision),
        "inputs": _inputs_as_shapes(module, precision),
    }, _PROTOCOL)


class Given:
    """The values of pack() in the candidate's process; without pack() they are empty."""

    def __init__(self, values):
        sent = pickle.loads(values) if values else {}
        for name, value in sent.get("state", {}).items():
            _STATE[name][2](value)
        self.names = problem_names.imported_by(sent.get("imports", ()))
        self.names.update(sent.get("constants", {}))
        self.changed = sent.get("changed", {})
        self.init, self._inputs = sent.get("init"), sent.get("inputs")

    def inputs_as_shapes(self):
        """The inputs of a call without values; raises if there are none."""
        return unpack_list(self._inputs)


def init_arguments_of(given):
    """The constructor's arguments of seed 0, or None if there are none."""
    return None if given.init is None else unpack_list(given.init)


def unpack_list(data):
    return pickle.loads(data)

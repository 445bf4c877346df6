# SPDX-License-Identifier: MIT
"""A model's state besides the content of its parameters: attributes that a call may change.

A reference that keeps state between calls (`self.h = torch.tanh(self.l(x + self.h))`) starts each
call from its initial state, and so does a candidate. `keep` is called after a model is built,
`restore` before each call.
"""

import collections
import copy
import types

import torch
from torch.utils.weak import WeakIdKeyDictionary

from kbench_worker.model_setup import move_host_tensors

# Torch's own attributes; parameters, buffers and submodules among them are kept separately.
_OWN = frozenset(vars(torch.nn.Module()))
_TABLES = ("_parameters", "_buffers", "_modules")
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type, types.FunctionType,
          types.BuiltinFunctionType, types.ModuleType, torch.dtype, torch.device, torch.Size)
_DEEPEST = 8  # the deepest nesting of objects that is inspected
_LARGE = 1 << 20  # bytes


def _attributes(module):
    return {name: value for name, value in vars(module).items() if name not in _OWN}


def _known(model):
    """A memo for copies, in which the model's own tensors and modules map to themselves."""
    known = [*model.modules(), *model.parameters(), *model.buffers()]
    return {id(item): item for item in known}


def _copied(value, memo):
    """A copy. If originals share an object, their copies with the same memo share its copy."""
    if isinstance(value, _PLAIN):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if type(value) is torch.Tensor:
        made = value.detach().clone()
    elif type(value) in (list, set, collections.deque):
        made = type(value)()
        memo[id(value)] = made
        add = made.add if isinstance(made, set) else made.append
        for item in value:
            add(_copied(item, memo))
    elif type(value) is tuple:
        made = tuple(_copied(item, memo) for item in value)
    elif type(value) in (dict, collections.OrderedDict):
        made = type(value)()
        memo[id(value)] = made
        for key, item in value.items():
            made[key] = _copied(item, memo)
    else:
        made = copy.deepcopy(value, memo)
    memo[id(value)] = made
    return made


def _try_copy(value, memo):
    """(copy, True), or (value, False) for a value that cannot be copied, such as a stream or an
    extension's object."""
    try:
        return _copied(value, memo), True
    except Exception:  # a class of the problem may raise anything when it is copied
        return value, False


def _put_back(original, kept, memo):
    """The value that restores an attribute: the original tensor if it can take the values, because
    a graph or another object may know its address."""
    if type(kept) is torch.Tensor and type(original) is torch.Tensor and id(kept) not in memo:
        if original.shape == kept.shape and original.dtype == kept.dtype:
            try:
                with torch.no_grad():
                    original.copy_(kept)
                memo[id(kept)] = original
                return original
            except RuntimeError:  # several elements of it share one address
                pass
    return _try_copy(kept, memo)[0]


def _fill(table, items):
    """Sets a dict's items, unless it has them already."""
    if list(table) != list(items) or any(table[name] is not item for name, item in items.items()):
        table.clear()
        table.update(items)


class _Kept:
    """The state of a model directly after it was built."""

    def __init__(self, model):
        self.model = model
        self.modules = []
        memo = _known(model)
        for module in model.modules():
            attributes = _attributes(module)
            copies = {name: _try_copy(value, memo)[0] for name, value in attributes.items()}
            tables = {table: dict(vars(module)[table]) for table in _TABLES}
            self.modules.append((module, attributes, copies, tables))
        self.buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]

    def restore(self):
        for module, _, _, tables in self.modules:
            for name, table in tables.items():
                _fill(vars(module)[name], table)
        with torch.no_grad():
            for buffer, before in self.buffers:
                buffer.copy_(before)
        memo = _known(self.model)
        for module, originals, copies, _ in self.modules:
            for name in _attributes(module).keys() - copies.keys():
                del vars(module)[name]
            for name, kept in copies.items():
                value = _put_back(originals[name], kept, memo)
                # An equal value is not assigned, because compilers detect every assignment.
                if name not in vars(module) or vars(module)[name] is not value:
                    vars(module)[name] = value


def keep(model):
    """Saves the state of a model that was just built, for restore()."""
    return _Kept(model)


# model -> the device to which a call needed the model's host tensors to be moved
_devices = WeakIdKeyDictionary()


def stays_on(model, device):
    """Makes restore() move the host tensors that it restores to the device again."""
    _devices[model] = device


def restore(kept):
    kept.restore()
    if kept.model in _devices:
        move_host_tensors(kept.model, _devices[kept.model])


def _token(value, seen, depth=0):
    """A token that changes if a value is replaced or written to, without a copy of a tensor."""
    if isinstance(value, torch.Tensor):
        return ("tensor", id(value), value._version)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return (type(value).__name__, repr(value))
    if isinstance(value, (*_PLAIN, torch.nn.Module)) or id(value) in seen or depth > _DEEPEST:
        return id(value)
    seen.add(id(value))
    items = ()
    if isinstance(value, dict):
        items = [(key if isinstance(key, str) else id(key), item) for key, item in value.items()]
    elif isinstance(value, (list, tuple, collections.deque)):
        items = enumerate(value)
    elif isinstance(value, (set, frozenset)):
        return (id(value), len(value), frozenset(map(id, value)))
    elif hasattr(value, "tobytes") and getattr(value, "nbytes", _LARGE) < _LARGE:  # numpy's
        return (id(value), value.tobytes())
    elif hasattr(value, "__dict__"):
        items = vars(value).items()
    return (id(value), tuple((key, _token(item, seen, depth + 1)) for key, item in items))


def _values(model, module):
    """{name: value} of everything that a call of the model may change: attributes of the model and
    its classes, registered tensors, and names in the problem's file."""
    found = {}
    parts = list(model.named_modules())
    for path, part in parts:
        prefix = f"self.{path}." if path else "self."
        found.update({prefix + name: value for name, value in _attributes(part).items()})
        # Their content is kept separately.
        found.update({prefix + name: id(tensor) for table in ("_buffers", "_parameters")
                      for name, tensor in vars(part)[table].items()})
    for made in {made for _, part in parts for made in type(part).__mro__}:
        if made.__module__ == module.__name__:
            found.update({f"{made.__name__}.{name}": value for name, value in vars(made).items()
                          if not name.startswith("__")})
    found.update({name: value for name, value in vars(module).items()
                  if not name.startswith("__")})
    return found


def trace(model, module):
    """The tokens from before a call, for changed()."""
    found = {}
    for name, value in _values(model, module).items():
        try:
            token = _token(value, set())
        except Exception:  # an object of the problem may raise anything when it is inspected
            token = id(value)
        # Keeps the value alive, so that no later object gets its id.
        found[name] = (token, value)
    return found


def changed(before, model, module):
    """Names of values that were replaced or written to since `before`."""
    now = trace(model, module)
    return sorted(name for name in before.keys() | now.keys()
                  if name not in before or name not in now or before[name][0] != now[name][0])

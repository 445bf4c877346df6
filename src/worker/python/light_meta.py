# SPDX-License-Identifier: MIT
"""Meta tensors without torch's compiler.

The first operators on the meta device import torch._dynamo, the symbolic shapes and sympy. That
takes two seconds, and a process may need only the shapes of one problem. If all sizes are plain
numbers, small replacements for these modules suffice.
"""

import contextlib
import sys
import types


def _dynamo():
    module = types.ModuleType("torch._dynamo")
    module.disable = lambda function=None, *_, **__: function
    module.is_compiling = lambda: False
    return module


def _symbolic_shapes():
    module = types.ModuleType("torch.fx.experimental.symbolic_shapes")
    for name in ("expect_true", "guard_or_false", "guard_or_true", "guard_size_oblivious",
                 "statically_known_true"):
        setattr(module, name, bool)
    module.guard_int = int
    module.size_hint = lambda value, *_, **__: value
    module.has_hint = lambda value: True
    module.is_nested_int = lambda value: False
    module.free_unbacked_symbols = lambda value: set()
    module.sym_eq = lambda one, other: (list(one) == list(other) if isinstance(one, (tuple, list))
                                        else one == other)
    module.sym_and = lambda *values: all(values)
    module.sym_or = lambda *values: any(values)
    return module


def _sympy():
    module = types.ModuleType("sympy")
    module.Basic = type("Basic", (), {})  # kbench has no such numbers
    return module


@contextlib.contextmanager
def without_compiler():
    """Context in which replacements stand for modules that are not imported yet.

    Importing a name that they lack raises ImportError, which the caller must handle.
    """
    stand_ins = [module for module in (_dynamo(), _symbolic_shapes(), _sympy())
                 if module.__name__ not in sys.modules]
    for module in stand_ins:
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], name, module)
    try:
        yield
    finally:
        for module in stand_ins:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
            parent, _, name = module.__name__.rpartition(".")
            if getattr(sys.modules.get(parent), name, None) is module:
                delattr(sys.modules[parent], name)

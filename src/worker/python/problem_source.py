# SPDX-License-Identifier: MIT
"""Static analysis of a problem's source: how it may affect the process that runs it."""

import ast

# Modules that only provide operators to a problem's source.
_PLAIN = {"collections", "copy", "dataclasses", "functools", "itertools", "math", "numpy", "operator",
          "random", "typing"}
_PLAIN_TORCH = {"torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.modules",
                "torch.nn.parameter", "torch.autograd"}

# Names in imported modules whose use may affect the process after the problem. The same holds for
# set_..., use_..., register_... and private names.
_LASTING = {"backends", "compile", "cuda", "distributed", "fx", "hub", "jit", "library",
            "multiprocessing", "ops", "overrides", "seterr", "seterrcall", "utils"}
# Functions whose effects cannot be seen in the text.
_OBSCURE = {"__builtins__", "__import__", "delattr", "eval", "exec", "getattr", "globals", "open",
            "setattr", "vars"}


def _imports(tree):
    """(module, name in it or None, name here) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, alias.asname or alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name


def is_plain(tree):
    """True if it imports only modules that provide nothing but operators."""
    return all(module in _PLAIN_TORCH or module.split(".")[0] in _PLAIN
               for module, _, _ in _imports(tree))


def _chain(node):
    """(root name, names of attributes) of an expression like a.b[0].c; (None, []) for any other."""
    names = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.value
    return (node.id, names) if isinstance(node, ast.Name) else (None, [])


def _is_lasting(name):
    return name in _LASTING or name.startswith(("set_", "use_", "register_", "_"))


def leaves_no_trace(tree):
    """True if the problem leaves the process unchanged, except random generators, so that another
    problem may use it."""
    if not is_plain(tree):
        return False
    if any(name is not None and (_is_lasting(name) or name == "*") for _, name, _ in _imports(tree)):
        return False
    imported = {here for _, _, here in _imports(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _OBSCURE:
            return False
        if isinstance(node, ast.Attribute) and node.attr in ("__enter__", "__dict__"):
            return False
        # A change through an alias would not be detected.
        if isinstance(node, ast.Assign) and _chain(node.value)[0] in imported and any(
                isinstance(target, ast.Name) for target in node.targets):
            return False
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            continue
        root, names = _chain(node)
        if root not in imported:
            continue
        if not isinstance(node.ctx, ast.Load) or any(_is_lasting(name) for name in names):
            return False
    return True

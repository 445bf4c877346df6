# SPDX-License-Identifier: MIT
"""The names of a problem's file that a candidate may use, because KernelBench runs both in one
namespace.

A candidate sees the file's plain constants, at the sizes of the run, and its imports, but not its
classes and functions. If the candidate's own file repeats a constant, the constant follows the
problem's sizes.
"""

import ast
import collections
import copy
import functools
import operator
import sys

import torch

_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)
_LARGEST = 1 << 64
_UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
           ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
           ast.Pow: operator.pow}


class _Unknown(Exception):
    """The value of an expression cannot be found without running it."""


def constants(tree):
    """(names, value, replace) of each module-level constant: `a = b = 3`, `n: int = 3`, and each
    part of `a, b = (3, 4)`. `replace` sets another value."""
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names:
            yield names, node.value, functools.partial(setattr, node, "value")
        for target in targets:
            if not isinstance(target, ast.Tuple) or not isinstance(node.value, (ast.Tuple, ast.List)):
                continue
            elements = node.value.elts
            if len(target.elts) != len(elements) or any(
                    isinstance(element, ast.Starred) for element in target.elts + elements):
                continue
            for i, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    yield [element.id], elements[i], functools.partial(elements.__setitem__, i)


def _number(value):
    if type(value) not in (int, float) or abs(value) > _LARGEST:
        raise _Unknown
    return value


def _value(node, known):
    """The value of a literal, of arithmetic with numbers, or of a known name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN):
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [_value(element, known) for element in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_number(_value(node.operand, known)))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = (_number(_value(side, known)) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow) and abs(right) > 64:
            raise _Unknown
        try:
            return _number(_BINARY[type(node.op)](left, right))
        except ArithmeticError:
            pass
    raise _Unknown


def values_of(tree, known=()):
    """{name: value} of the module-level constants: values from the text, else from `known`."""
    values = {}
    for names, node, _ in constants(tree):
        for name in names:
            values.pop(name, None)
            if node is not None:
                try:
                    values[name] = _value(node, values)
                except (_Unknown, RecursionError):
                    if name in known:
                        values[name] = known[name]
    return values


def _is_main_guard(node):
    """True for `if __name__ == "__main__":`, a block that kbench never runs."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return (all(isinstance(op, ast.Eq) for op in node.test.ops)
            and [side.id for side in sides if isinstance(side, ast.Name)] == ["__name__"]
            and [side.value for side in sides if isinstance(side, ast.Constant)] == ["__main__"])


def _module_level(tree):
    """The nodes of a file that are outside of functions and classes."""
    left = list(tree.body)
    while left:
        node = left.pop()
        yield node
        if _is_main_guard(node):
            left += node.orelse
        elif not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            left += ast.iter_child_nodes(node)


def _bound_once(tree):
    """The names that the file binds in only one place, and that no function binds as a global."""
    bound = collections.Counter(
        node.id for node in _module_level(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    of_functions = {name for node in ast.walk(tree) if isinstance(node, ast.Global)
                    for name in node.names}
    return {name for name, count in bound.items() if count == 1} - of_functions


def _is_same(value, other):
    if type(value) is not type(other):
        return False
    if isinstance(value, (list, tuple)):
        return len(value) == len(other) and all(map(_is_same, value, other))
    return value == other


def is_plain(value, depth=4):
    """True for a constant: a number, a text, a type of torch, or a collection of them."""
    if type(value) in (list, tuple, set, frozenset):
        return depth > 0 and all(is_plain(item, depth - 1) for item in value)
    if type(value) is dict:
        return depth > 0 and all(is_plain(part, depth - 1) for item in value.items()
                                 for part in item)
    return type(value) in _PLAIN


def _imported(tree):
    for node in _module_level(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0]


def _import_statements(tree):
    """[(name here, module, statement)] of the file's imports, in its order."""
    statements = []
    for node in sorted(_module_level(tree), key=lambda node: getattr(node, "lineno", 0)):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", 0):
            continue
        for alias in node.names:
            alone = (ast.Import([alias]) if isinstance(node, ast.Import)
                     else ast.ImportFrom(node.module, [alias], 0))
            module = alias.name if isinstance(node, ast.Import) else node.module
            statements.append((alias.asname or alias.name.split(".")[0], module,
                               ast.unparse(alone)))
    return statements


def imports(tree, values):
    """[(name, statement)] by which another process can repeat the file's imports."""
    found = []
    for name, module, statement in _import_statements(tree):
        if name.startswith("__") or name not in values or module not in sys.modules:
            continue
        names = {}
        try:
            exec(statement, names)
        except ImportError:
            continue
        if names.get(name) is values[name]:
            found.append((name, statement))
    return found


def imported_by(statements):
    """{name: value} of the statements of imports(), without packages that this process lacks."""
    names = {}
    for _, statement in statements:
        try:
            exec(statement, names)
        except ImportError:
            pass
    return {name: names[name] for name, _ in statements if name in names}


def given(tree, values):
    """{name: value} that a candidate sees, if the file's names have these values."""
    imported = set(_imported(tree))
    assigned = {node.id for node in _module_level(tree)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - imported
    found = {name: values[name] for name in sorted(imported) if name in values}
    found.update((name, copy.deepcopy(values[name])) for name in sorted(assigned)
                 if name in values and is_plain(values[name]))
    return {name: value for name, value in found.items() if not name.startswith("__")}


def changed(before, tree, sizes, values):
    """{name: (value in the file, value with these sizes)} of constants that the sizes change.

    Both values come from the text. If code fills a list, a candidate's code fills its own list,
    too. A number that the code changes later is not a constant.
    """
    now = values_of(tree, {name: values[name] for name in sizes if name in values})
    return {name: (value, now[name]) for name, value in before.items()
            if name in now and name in values and not _is_same(value, now[name])
            and _is_literal(now[name])
            and (isinstance(now[name], list) or _is_same(now[name], values[name]))}


def _is_literal(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_literal, value))
    return type(value) in (bool, int, float, complex, str, bytes, type(None))


def _literal(value):
    if isinstance(value, (list, tuple)):
        kind = ast.List if isinstance(value, list) else ast.Tuple
        return kind(list(map(_literal, value)), ast.Load())
    return ast.Constant(value)


def follow(tree, changes):
    """Sets a candidate's constants that repeat the file's to the values of the run, in place.
    Returns their names. Names that are bound more than once stay unchanged."""
    if not changes:
        return []
    values, once, followed = values_of(tree), _bound_once(tree), []
    for names, node, replace in list(constants(tree)):
        for name in names:
            if name not in once or name not in values or name not in changes:
                continue
            before, now = changes[name]
            if not _is_same(values[name], before) or any(
                    changes.get(other) != changes[name] for other in names):
                continue
            replace(ast.fix_missing_locations(ast.copy_location(_literal(now), node)))
            followed.append(name)
    return followed

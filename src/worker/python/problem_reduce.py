# SPDX-License-Identifier: MIT
"""Reduced sizes for a problem that is too large for a CPU, found with little computation.

Halves the integers of the problem file's module-level constants, the largest first. Checks on the
meta device that reference and inputs can still be built, and what they cost. Runs the result once
on the CPU. If that raises, undoes the last halvings and tries others. Called from problem_host.cpp.
"""

import ast
import copy
import functools
import json
import time

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import flop_registry

from kbench_worker import light_meta
from kbench_worker.dispatch_mode import DispatchMode
from kbench_worker.model_setup import state_of
from kbench_worker.operator_cost import tensors_in
from kbench_worker.problem_host import (build_model, constants, draw_inputs, forward, load, parse)

# A halving must reduce a cost above its limit at least to this fraction; otherwise the size keeps
# its value.
_GAIN = 0.95
# Sizes are equal in all precision rows, so that the rows can be compared.
_PRECISION = "native"
# Limits of runs that check for errors: cost of one run (bytes, operations), number of runs, and
# time in seconds.
_MAX_RUN = (1 << 30, 20e9)
_MAX_RUNS = 64
_MAX_RUNS_S = 20
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


class _Work(DispatchMode):
    """Sums operations: torch's own counts, else one per element of the largest tensor."""

    def __init__(self):
        super().__init__()
        self.flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        counter = flop_registry.get(func.overloadpacket)
        if counter is not None:
            self.flops += int(counter(*args, **kwargs, out_val=result))
        elif not any(r.alias_info is not None and not r.alias_info.is_write
                     for r in func._schema.returns):
            self.flops += max((t.numel() for t in tensors_in([args, kwargs, result])), default=0)
        return result


class _OneStep(TorchFunctionMode):
    """Runs only one step of a recurrent layer and multiplies its cost, because thousands of steps
    take seconds even on meta."""

    def __init__(self, work):
        super().__init__()
        self.work = work

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # For a packed sequence, the argument in the state's place is its batch sizes.
        if (getattr(func, "__name__", "") not in _RECURRENT or len(args) != 9 or kwargs
                or not isinstance(args[2], (list, tuple))):
            return func(*args, **kwargs)
        dim = 1 if args[8] and args[0].dim() == 3 else 0
        steps = args[0].size(dim)
        before = self.work.flops
        output, *state = func(args[0].narrow(dim, 0, 1), *args[1:])
        self.work.flops += (steps - 1) * (self.work.flops - before)
        shape = list(output.shape)
        shape[dim] = steps
        return (output.new_empty(shape), *state)


def _bytes(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _light_cost(search, sizes):
    """The result of _cost, for problems that do not need the compiler's modules."""
    module = load(search.path, search.source, sizes)
    if not module.kbench_is_plain:
        raise RuntimeError("it may do anything")
    with light_meta.without_compiler():
        return _cost_of(module, "meta")


def _cost(search, sizes, device, run=True):
    """(bytes of inputs, state and outputs; operations of a call) at these sizes. The constructor
    runs on `device`. Without `run` there are no outputs and operations."""
    return _cost_of(load(search.path, search.source, sizes), device, run)


def _cost_of(module, device, run=True):
    model = build_model(module, device, _PRECISION, 0, redraw=False).to("meta")
    inputs = draw_inputs(module, "meta", _PRECISION, 0)
    outputs = []
    work = _Work()
    if run:
        with work, _OneStep(work):
            outputs = forward(model, inputs)
    state = [tensor for _, tensor, _ in state_of(model)]
    return _bytes(tensors_in(inputs)) + _bytes(state) + _bytes(outputs), work.flops


# Ways to find a problem's cost, in order of preference. Constructors may read values, which meta
# tensors lack. If a reference also reads values, only bytes are counted.
_WAYS = (_light_cost, functools.partial(_cost, device="meta"),
         functools.partial(_cost, device="cpu"), functools.partial(_cost, device="meta", run=False))

_OPERATORS = {ast.Mult: int.__mul__, ast.Add: int.__add__, ast.Sub: int.__sub__}


def _integer(node):
    """The value of an expression of integers ("2048 * 2"), else None."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return None
    left, right = _integer(node.left), _integer(node.right)
    return None if left is None or right is None else _OPERATORS[type(node.op)](left, right)


class _Number:
    """An integer of a constant: the whole constant, or an element of its list or tuple."""

    def __init__(self, name, value, replace):
        self.name, self.value, self._replace = name, value, replace

    def set(self, value):
        self.value = value
        self._replace(ast.Constant(value))


def _numbers(name, node, replace):
    value = _integer(node)
    if value is not None:
        yield _Number(name, value, replace)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for i, element in enumerate(node.elts):
            yield from _numbers(name, element, functools.partial(node.elts.__setitem__, i))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # [1024] * 16
        if isinstance(node.left, (ast.List, ast.Tuple)):
            yield from _numbers(name, node.left, None)


class _Search:
    """The search for one problem. The user chose the sizes in `given`, so they stay."""

    def __init__(self, path, source, given, limits):
        self.path, self.source, self.given, self.limits = path, source, given, limits
        self.expressions = {}
        for names, value, _ in constants(parse(path, source)):
            if value is not None and given.keys().isdisjoint(names):
                self.expressions[names[0]] = copy.deepcopy(value)
        self.numbers = []
        for name, value in self.expressions.items():
            self.numbers += _numbers(name, value,
                                     functools.partial(self.expressions.__setitem__, name))
        self.changed = set()
        self.done = []  # halvings: for each the arguments that undo it
        self.fixed = []  # numbers whose next halving makes the reference raise

    def sizes(self):
        """Every constant that differs from the file's."""
        return self.given | {name: ast.unparse(self.expressions[name]) for name in self.changed}

    def over(self, cost):
        return any(got > limit for got, limit in zip(cost, self.limits))

    def helps(self, cost):
        """True if a halving helps: a cost above its limit falls, and no cost rises."""
        return all(got <= old for got, old in zip(cost, self.cost)) and any(
            old > limit and got <= _GAIN * old
            for got, old, limit in zip(cost, self.cost, self.limits))

    def halve(self, numbers):
        """Halves these numbers together. Undoes it if nothing is gained or the problem fails."""
        before = [number.value for number in numbers]
        changed = set(self.changed)
        old_cost = self.cost
        for number in numbers:
            number.set(number.value // 2)
            self.changed.add(number.name)
        try:
            cost = self.way(self, self.sizes())
        except Exception:  # a problem may raise anything at sizes that do not fit together
            cost = None
        undo = (list(zip(numbers, before)), changed, old_cost)
        if cost is not None and self.helps(cost):
            self.cost = cost
            self.done.append(undo)
            return True
        self.undo(*undo)
        return False

    def undo(self, values, changed, cost):
        for number, value in values:
            number.set(value)
        self.changed = changed
        self.cost = cost

    def round(self):
        """Halves each number as long as it helps; True if any halving did."""
        any_helped = False
        free = [number for number in self.numbers
                if number.value > 1 and number not in self.fixed]
        while free and self.over(self.cost):
            number = max(free, key=lambda number: number.value)
            # Sizes that must agree are often two constants of one value.
            alike = [other for other in self.numbers if other.value == number.value]
            may_be_alike = len(alike) > 1 and not any(other in self.fixed for other in alike)
            helped = self.halve([number]) or (may_be_alike and self.halve(alike))
            any_helped = any_helped or helped
            free = [other for other in free
                    if other.value > 1 and (helped or other is not number)]
        return any_helped

    def run(self):
        for way in _WAYS:
            try:
                self.full = self.cost = way(self, self.given)
                self.way = way
                break
            except Exception as error:  # the last way's error is raised
                if way is _WAYS[-1]:
                    raise
        self.go_on()

    def go_on(self):
        # A halving that did not help at first may help when other sizes are smaller.
        while self.over(self.cost) and self.round():
            pass


class _Runs:
    """Runs the reference for real, within limits."""

    def __init__(self, search):
        self.search = search
        self.left = _MAX_RUNS
        self.until = time.monotonic() + _MAX_RUNS_S

    def may(self):
        return self.left > 0 and time.monotonic() < self.until and all(
            got <= limit for got, limit in zip(self.search.cost, _MAX_RUN))

    def error(self):
        """The exception at the currently chosen sizes, or None."""
        self.left -= 1
        try:
            module = load(self.search.path, self.search.source, self.search.sizes())
            model = build_model(module, "cpu", _PRECISION, 0, redraw=False)
            forward(model, draw_inputs(module, "cpu", _PRECISION, 0))
        except Exception as error:  # a problem may raise anything at sizes that do not fit together
            return error
        return None


def _verify(search):
    """Verifies that the reference runs at the chosen sizes; on meta, for example, a convolution's
    kernel may be larger than its input. Undoes halvings that make it raise, and does not halve
    their numbers again."""
    runs = _Runs(search)
    error = None
    while search.done and runs.may():
        error = runs.error()
        if error is None:
            return
        chosen = (list(search.numbers), [number.value for number in search.numbers],
                  set(search.changed), search.cost)
        fixed = []
        while search.done and error is not None and runs.may():
            values, changed, cost = search.done.pop()
            search.undo(values, changed, cost)
            fixed = [number for number, _ in values]
            error = runs.error() if runs.may() else error
        if error is not None:
            # It also raises at larger sizes, which the judge reports when it opens the problem.
            numbers, values, changed, cost = chosen
            search.undo(list(zip(numbers, values)), changed, cost)
            break
        search.fixed += fixed
        search.go_on()
    if error is not None and search.way is _WAYS[-1]:
        raise error


def reduce_sizes(path, source, sizes, max_bytes, max_flops):
    """Sizes at which the problem is within the limits, or as close as halving comes, as JSON."""
    search = _Search(path, source, dict(sizes), (max_bytes, max_flops))
    search.run()
    _verify(search)
    reduced_sizes = None
    if search.over(search.full):
        reduced_sizes = {"bytes": search.cost[0], "flops": search.cost[1], "full_bytes": search.full[0],
                  "full_flops": search.full[1], "within": not search.over(search.cost)}
    return json.dumps({"sizes": search.sizes(), "reduced_sizes": reduced_sizes})

# SPDX-License-Identifier: MIT
"""Runs problem files in KernelBench's form for the judge: builds the model, draws inputs, describes
both.

problem_host.cpp calls the functions. Tensors are passed as they are, everything else as plain
values.
"""

import ast
import contextlib
import functools
import gc
import inspect
import json
import math
import sys
import types

import torch

from kbench_worker import (baselines, kernelbench_rules, light_meta, model_setup, operator_cost,
                           problem_names, problem_source)
from kbench_worker.model_setup import (build, constructed, dtype_of, move_host_tensors, seed_all,
                                       short, state_of, with_default)
from kbench_worker.least_work import LeastWork
from kbench_worker.problem_names import constants


_FRESH_SEED = 67280421310721  # of torch's generators: c10::detail::default_rng_seed_val
# The types that a signature may name, as in dtype.cpp.
_DTYPES = frozenset("float32 float64 float16 bfloat16 int8 uint8 int16 int32 int64 bool".split())
# The fraction of free GPU memory below which caches are released. A released cache takes long to
# fill again.
_LOW_SHARE = 1 / 4


class ProblemFailure(Exception):
    """The problem's own failure: a cause slug and a message."""

    def __init__(self, cause, message):
        super().__init__(message)
        self.cause = cause


def set_precision(precision):
    """Sets the global state that decides what fp32 means."""
    if kernelbench_rules.applies(precision):
        kernelbench_rules.set_math_modes(kernelbench_rules.DEFAULT_MODES)
    else:
        model_setup.set_precision(precision)


def parse(path, source):
    try:
        return ast.parse(source, filename=path)
    except (SyntaxError, ValueError) as error:
        raise ProblemFailure("import_failed", f"{path} is not valid Python: {error}") from None


def load(path, source, sizes):
    """The problem's module, with the constants in `sizes` (name -> Python expression) replaced."""
    tree = parse(path, source)
    in_file = problem_names.values_of(tree)
    missing = dict(sizes)
    for names, _, replace in list(constants(tree)):
        for name in names:
            if name in sizes:
                try:
                    replace(ast.parse(sizes[name], mode="eval").body)
                except SyntaxError:
                    raise ProblemFailure(
                        "bad_size",
                        f"the size {name}={sizes[name]} is not a Python literal") from None
                missing.pop(name, None)
    if missing:
        names = ", ".join(sorted(missing))
        raise ProblemFailure("bad_size", f"{path} has no module-level constant {names}")
    # The generators start as in a fresh process, like those of the candidate's process.
    torch.manual_seed(_FRESH_SEED)
    module = types.ModuleType("kbench_problem")
    module.__file__ = path
    module.kbench_is_plain = problem_source.is_plain(tree)
    module.kbench_leaves_no_trace = problem_source.leaves_no_trace(tree)
    sys.modules["kbench_problem"] = module
    ast.fix_missing_locations(tree)
    try:
        exec(compile(tree, path, "exec"), module.__dict__)
    except Exception as error:
        raise ProblemFailure("import_failed", f"{path} cannot be imported: {short(error)}") from error
    names = vars(module)
    module.kbench_given = problem_names.given(tree, names)
    module.kbench_imports = problem_names.imports(tree, names)
    module.kbench_changed = problem_names.changed(in_file, tree, sizes, names)
    for name in ("Model", "get_inputs"):
        if not hasattr(module, name):
            raise ProblemFailure("no_" + name.lower(), f"{path} has no {name}")
    return module


def _to(value, device, dtype):
    """`value` with its tensors moved to the device, floating ones cast to the precision row's type.
    """
    if isinstance(value, torch.Tensor):
        value = value.detach()
        if dtype is not None and value.is_floating_point():
            value = value.to(dtype)
        return value.to(device).contiguous()
    if isinstance(value, (list, tuple)):
        return type(value)(_to(item, device, dtype) for item in value)
    return value


def init_arguments(module, device, precision, seed):
    """The arguments of the reference's and the candidate's constructor, on the CPU."""
    if kernelbench_rules.applies(precision):
        return kernelbench_rules.init_arguments(module, device, precision)

    def made():
        seed_all(seed, device)
        return _init_arguments(module)

    return constructed(device, made)


def _init_arguments(module):
    arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    return list(arguments) if isinstance(arguments, (list, tuple)) else [arguments]


def build_model(module, device, precision, seed, redraw=True):
    """A new Model under an init seed, on the device, in the precision row's types."""
    if kernelbench_rules.applies(precision):
        arguments = kernelbench_rules.init_arguments(module, device, precision)
        return kernelbench_rules.new_model(module.Model, arguments, device, precision)
    arguments = init_arguments(module, device, precision, seed)
    model = build(lambda: module.Model(*arguments), device, precision, seed, redraw)
    if device not in ("cpu", "meta"):
        move_host_tensors(model, device)
    return model


def draw_inputs(module, device, precision, seed):
    """The arguments of one call of forward, as a list."""
    if kernelbench_rules.applies(precision):
        return kernelbench_rules.draw_inputs(module, device, precision, seed)

    def drawn():
        seed_all(seed, device)
        return module.get_inputs()

    inputs = with_default(device, drawn)
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return [_to(value, device, dtype_of(precision)) for value in inputs]


def outputs_of(result):
    """The outputs as a flat list of tensors."""
    outputs = list(result) if isinstance(result, (list, tuple)) else [result]
    for output in outputs:
        if not isinstance(output, torch.Tensor):
            raise ProblemFailure("bad_output",
                                 f"the reference returns a {type(output).__name__}, not a tensor")
    return outputs


def structured(model, inputs):
    """(True if the result is a tuple or list, outputs) of one call."""
    with torch.no_grad():
        result = model(*inputs)
    return isinstance(result, (list, tuple)), outputs_of(result)


def forward(model, inputs):
    return structured(model, inputs)[1]


def enter_eval_mode(model):
    """Puts the model in eval mode. Returns (its parts that were in training mode, True if a part
    has running statistics)."""
    parts = [part for part in model.modules() if part.training]
    model.eval()
    norms = torch.nn.modules.batchnorm._NormBase
    return parts, any(isinstance(part, norms) and part.running_mean is not None for part in parts)


def leave_eval_mode(parts):
    for part in parts:
        part.training = True


def operators(model, inputs):
    """The bytes and operations of each operator of one call, as JSON."""
    with torch.no_grad():
        return operator_cost.counted(model, *inputs)[1]


def added_up(model, inputs):
    """The most numbers that the operators of one call may sum for one element."""
    with torch.no_grad():
        return operator_cost.added_up(model, *inputs)


def release_memory(device):
    """Releases device memory that torch's allocator keeps unused."""
    gc.collect()
    if device.startswith("cuda"):
        torch.cuda.empty_cache()


def release_idle_memory(device):
    """Releases that memory only if the device has little left, so that candidates can use it."""
    if not device.startswith("cuda"):
        return
    free, total = torch.cuda.mem_get_info(device)
    if free < _LOW_SHARE * total:
        release_memory(device)


def touch(device):
    """Opens the device without its libraries."""
    torch.zeros(1, device=device).item()


def reseed(seed):
    seed_all(seed)


def baseline(name, model, arguments, cache):
    """The callable that replaces the model; see baselines.py."""
    if cache:
        baselines.use_cache(cache)
    return baselines.prepared(name, model, arguments)


def captured(models, arguments):
    """A callable without arguments that calls each model; see baselines.py."""
    return baselines.captured(models, arguments)


def _plain(value):
    """The JSON form of a plain value for plans, or None if it is not plain."""
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)) and value:
        if all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return [int(item) for item in value]
        if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in value):
            return [_plain(float(item)) for item in value]
    return None


def _attributes(model):
    found = {}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            plain = None if name.startswith("_") or name == "training" else _plain(value)
            if plain is not None:
                found[f"{path}.{name}" if path else name] = plain
    return found


def _bound(function, arguments, skip_self):
    """[(parameter name, value)] of a call; arguments beyond the names are numbered."""
    try:
        signature = inspect.signature(function)
        if skip_self:
            parameters = list(signature.parameters.values())[1:]
            signature = signature.replace(parameters=parameters)
        bound = signature.bind(*arguments)
        bound.apply_defaults()
    except (TypeError, ValueError):
        return [(f"arg{i}", value) for i, value in enumerate(arguments)]
    named = []
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            named += [(f"{name}{i}", item) for i, item in enumerate(value)]
        elif kind is not inspect.Parameter.VAR_KEYWORD:
            named.append((name, value))
    return named


def _tensor_info(what, name, tensor):
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in _DTYPES:
        kind = "complex tensors" if tensor.is_complex() else "tensors of that type"
        raise ProblemFailure(
            "unsupported_dtype", f"{what} {name} is {dtype}: {kind} are not supported")
    return {"name": name, "dtype": dtype, "shape": list(tensor.shape)}


def signature(key, module, model, inputs, outputs, precision, returns_sequence, work=None):
    """The signature: the names that a plan may use, in the form of signature.hpp."""
    if kernelbench_rules.applies(precision) and len(outputs) != 1:
        raise ProblemFailure(
            "several_outputs", f"the reference returns {len(outputs)} outputs, but KernelBench "
            "compares one tensor, so no candidate can be right by its rules")
    named = _bound(type(model).forward, inputs, True)[:len(inputs)]
    described = []
    for name, value in named:
        if isinstance(value, torch.Tensor):
            described.append(_tensor_info("the input", name, value))
        else:
            described.append({"name": name, "value": _plain(value)})
            if described[-1]["value"] is None:
                raise ProblemFailure(
                    "bad_input", f"the input {name} is a {type(value).__name__}: "
                    "neither a tensor nor a plain number")
    with torch.device("meta"):
        arguments = _init_arguments(module)
    init = {name: _plain(value) for name, value in _bound(type(model).__init__, arguments, True)}
    return json.dumps({
        "problem": key,
        "inputs": described,
        "outputs": [_tensor_info("the output", str(i), tensor) for i, tensor in enumerate(outputs)],
        "state": [dict(_tensor_info("the state", name, tensor), is_buffer=is_buffer)
                  for name, tensor, is_buffer in state_of(model)],
        "init": {name: value for name, value in init.items() if value is not None},
        "attributes": _attributes(model),
        "precision": precision,
        "returns_sequence": returns_sequence,
        "work": work,
    })


def describe(key, module, precision):
    """The signature, without drawing data if possible: from the meta device, else from the CPU."""
    last = None
    is_plain = getattr(module, "kbench_is_plain", False)
    light = [("meta", light_meta.without_compiler())] if is_plain else []
    for device, manner in (*light, ("meta", contextlib.nullcontext()),
                           ("cpu", contextlib.nullcontext())):
        try:
            with manner:
                model = build_model(module, device, precision, 0, redraw=False)
                inputs = draw_inputs(module, device, precision, 0)
                given = [*(t for t in inputs if isinstance(t, torch.Tensor)),
                         *(tensor for _, tensor, _ in state_of(model))]
                with LeastWork(given, precision) as work:
                    is_sequence, outputs = structured(model, inputs)
                return signature(key, module, model, inputs, outputs, precision, is_sequence,
                                 work.found(outputs))
        except ProblemFailure:
            raise
        except Exception as error:  # the next device may work; the last error is reported
            last = error
    raise ProblemFailure("reference_raised", f"the reference raises {short(last)}") from last


def failure_of(error):
    """(cause, message) of a problem's exception on the judge's device."""
    if isinstance(error, ProblemFailure):
        return error.cause, str(error)
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return "does_not_fit", f"the problem does not fit into memory: {short(error)}"
    return "reference_raised", f"the reference raises {short(error)}"

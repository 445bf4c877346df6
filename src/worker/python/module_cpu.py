# SPDX-License-Identifier: MIT
"""Runs candidates written for a GPU on the CPU without changes.

A CPU tensor is treated as a "cuda" tensor, unless the candidate made it without a device or moved
it to the CPU. Such a tensor has a mark, and behaves like a host tensor on a machine with a GPU. In
a dry import, "cuda" tensors have no values (`forget_values`).
"""

import threading

import torch
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils import _device as device_context

from kbench_worker import module_cpu_cuda, module_cpu_packages, module_cpu_triton

_CUDA = torch.device("cuda", 0)
_MARK = "_kbench_on_host"

# The device that emulates the GPU.
_stand_in = torch.device("cpu")

# Features that the mode skipped, each once, for the report.
flags = []


def _on_host(tensor):
    return _MARK in tensor.__dict__ or tensor.device.type != _stand_in.type


def _mark(value, on_host):
    """Marks a result, or the tensors of a tuple or list of them."""
    if isinstance(value, torch.Tensor):
        if on_host:
            value.__dict__[_MARK] = True
        else:
            value.__dict__.pop(_MARK, None)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _mark(item, on_host)
    return value


def _device_of(value):
    """The device that an argument names, or None. A number is the index of a GPU."""
    if isinstance(value, torch.device):
        device = value
    elif isinstance(value, int) and not isinstance(value, bool):
        device = torch.device("cuda", value)
    elif isinstance(value, str):
        device = torch.device(value)
    else:
        return None
    if device.type == "cuda" and device.index not in (None, 0):
        raise RuntimeError(f"CUDA error: invalid device ordinal {device.index}")
    return device


def _tensors(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


# Operators that torch refuses for tensors of two devices, unless the host tensor has no dimension.
# Listed by name, because methods and functions share a name.
_ONE_DEVICE = frozenset(
    "add sub mul div true_divide matmul mm bmm addmm baddbmm addcmul addcdiv linear bilinear "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d batch_norm layer_norm "
    "group_norm cat stack concat einsum where maximum minimum pow lerp fmod remainder dot mv outer "
    "__add__ __sub__ __mul__ __truediv__ __radd__ __rsub__ __rmul__ __rtruediv__ __matmul__ add_ "
    "sub_ mul_ div_ scaled_dot_product_attention embedding index_select gather eq ne lt le gt ge"
    .split())


def _check_one_device(func, tensors):
    on_host = [t for t in tensors if _on_host(t) and t.dim() > 0]
    if on_host and getattr(func, "__name__", "") in _ONE_DEVICE and not all(map(_on_host, tensors)):
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                           "devices, cuda:0 and cpu!")


def _to_host(tensor):
    return tensor if _on_host(tensor) else _mark(tensor.clone(), True)


def _to_cuda(tensor):
    return _mark(tensor.to(_stand_in, copy=True), False) if _on_host(tensor) else tensor


def _is_cuda(func, args, kwargs):
    return not _on_host(args[0])


def _is_cpu(func, args, kwargs):
    return args[0].device.type == "cpu" and _on_host(args[0])


def _device(func, args, kwargs):
    return args[0].device if _on_host(args[0]) else _CUDA


def _index_of_device(func, args, kwargs):
    return -1 if _on_host(args[0]) else 0


def _cuda(func, args, kwargs):
    _device_of(kwargs.get("device", args[1] if len(args) > 1 else None))
    return _to_cuda(args[0])


def _cpu(func, args, kwargs):
    return _to_host(args[0])


def _to(func, args, kwargs):
    """Tensor.to(device | dtype | tensor, …): torch handles the type, this function the device."""
    tensor, rest = args[0], list(args[1:])
    on_host = None
    for values, keys in ((rest, range(len(rest))), (kwargs, ["device", "other"])):
        for key in keys:
            value = values.get(key) if values is kwargs else values[key]
            # Only the first position can name a device; later ones are flags.
            index = values is kwargs or key == 0
            device = _device_of(value) if index or not isinstance(value, int) else None
            if isinstance(value, torch.Tensor):
                on_host = _on_host(value)
            elif device is not None:
                on_host = device.type != "cuda"
                values[key] = _stand_in if device.type == "cuda" else device
    before = _on_host(tensor)
    result = func(tensor, *rest, **kwargs)
    if on_host is None:
        on_host = before
    if on_host == before:
        return _mark(result, True) if on_host and result is not tensor else result
    return _mark(result.clone() if result is tensor else result, on_host)


def _as_it_stands(func, args, kwargs):
    return func(*args, **kwargs)


def _type(func, args, kwargs):
    tensor = args[0]
    wanted = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    if wanted is None:
        name = func(tensor)
        return name if _on_host(tensor) else name.replace("torch.", "torch.cuda.")
    if isinstance(wanted, str):
        wanted = wanted.replace("torch.cuda.", "torch.")
    return _mark(func(tensor, wanted), _on_host(tensor))


def _to_numpy(func, args, kwargs):
    if not _on_host(args[0]):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to "
                        "copy the tensor to host memory first.")
    return func(*args, **kwargs)


def _set_data(func, args, kwargs):
    result = func(*args, **kwargs)
    _mark(args[0], _on_host(args[1]))
    return result


def _pin_memory(func, args, kwargs):
    if not _on_host(args[0]):
        raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be "
                           "pinned")
    return args[0]


def _is_pinned(func, args, kwargs):
    return _on_host(args[0])


def _handlers():
    tensor = torch.Tensor
    return {
        tensor.is_cuda.__get__: _is_cuda,
        tensor.is_cpu.__get__: _is_cpu,
        tensor.device.__get__: _device,
        tensor.data.__set__: _set_data,
        tensor.get_device: _index_of_device,
        torch.get_device: _index_of_device,
        tensor.cuda: _cuda,
        tensor.cpu: _cpu,
        tensor.to: _to,
        # Module.to parses its arguments with this, and then moves each tensor.
        torch._C._nn._parse_to: _as_it_stands,
        tensor.type: _type,
        tensor.numpy: _to_numpy,
        tensor.__array__: _to_numpy,
        tensor.pin_memory: _pin_memory,
        tensor.is_pinned: _is_pinned,
    }


def _default_is_cuda():
    default = device_context.CURRENT_DEVICE
    return default is not None and default.type == "cuda"


class _Mode(TorchFunctionMode):
    """Intercepts every torch call. Within its handler no mode is active."""

    def __init__(self):
        super().__init__()
        self._handlers = _handlers()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        handler = self._handlers.get(func)
        if handler is not None:
            return handler(func, args, kwargs)
        device = _device_of(kwargs.get("device"))
        if device is not None and device.type == "cuda":
            kwargs["device"] = _stand_in
        if kwargs.get("pin_memory"):
            del kwargs["pin_memory"]
        return self._call(func, args, kwargs, device)

    def _call(self, func, args, kwargs, device):
        tensors = list(_tensors(args))
        if kwargs:
            tensors += _tensors(kwargs.values())
        if device is not None:
            on_host = device.type != "cuda"
        elif tensors:
            on_host = all(map(_on_host, tensors))
            if not on_host:
                _check_one_device(func, tensors)
        else:
            on_host = not _default_is_cuda()
        result = func(*args, **kwargs)
        if device is not None and isinstance(result, torch.Tensor) and _on_host(result) != on_host:
            # as_tensor(x, device=…) returns x itself if nothing has to be moved.
            given = any(result is tensor for tensor in tensors)
            return _mark(result.clone() if given else result, on_host)
        return _mark(result, True) if on_host else result


def _note(flag):
    if flag not in flags:
        flags.append(flag)


def _replace_default_device():
    """Replaces torch's mode for the default device, which could run before this one or in its
    place."""

    def torch_function(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in device_context._device_constructors() and kwargs.get("device") is None:
            to_come = any(isinstance(mode, _Mode) for mode in _get_current_function_mode_stack())
            cuda = self.device.type == "cuda" and not to_come
            kwargs["device"] = _stand_in if cuda else self.device
        return func(*args, **kwargs)

    device_context.DeviceContext.__torch_function__ = torch_function


def _as_it_is(flag):
    """A compiler front end that returns its argument; also usable as a decorator."""

    def give_back(model=None, *args, **kwargs):
        _note(flag)
        return (lambda model: model) if model is None else model

    return give_back


def _replace_compilers():
    """Replaces torch.compile and TorchScript. Their code would bypass the mode, and compiling takes
    longer than it saves on the CPU."""
    torch.compile = _as_it_is("torch.compile ran eagerly")
    torch.nn.Module.compile = lambda self, *args, **kwargs: _note("torch.compile ran eagerly")
    for name in ("script", "trace", "freeze", "optimize_for_inference"):
        setattr(torch.jit, name, _as_it_is(f"torch.jit.{name} ran eagerly"))


def _on_cpu_key(value):
    """CUDA's dispatch keys and device types in an operator's registration, mapped to the CPU's."""
    if isinstance(value, str):
        return {"cuda": "cpu", "CUDA": "CPU"}.get(value, value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_on_cpu_key, value))
    return value


def _replace_registrations():
    """Makes operators that a candidate registers for CUDA run on CPU tensors."""
    library = torch.library
    custom_op, impl, library_impl = library.custom_op, library.impl, library.Library.impl
    register_kernel = library.register_kernel

    def cpu_custom_op(name, fn=None, /, *, device_types=None, **kwargs):
        return custom_op(name, fn, device_types=_on_cpu_key(device_types), **kwargs)

    library.custom_op = cpu_custom_op
    library.impl = lambda name, types, *args, **kwargs: impl(name, _on_cpu_key(types), *args,
                                                             **kwargs)
    library.register_kernel = lambda op, types, *args, **kwargs: register_kernel(
        op, _on_cpu_key(types), *args, **kwargs)

    def cpu_library_impl(self, name, fn, dispatch_key="", **kwargs):
        try:
            return library_impl(self, name, fn, _on_cpu_key(dispatch_key), **kwargs)
        except RuntimeError:
            if dispatch_key != "CUDA":
                raise  # for CUDA this is not an error: the operator also has a CPU kernel

    library.Library.impl = cpu_library_impl


def _replace_from_memory():
    from_numpy, frombuffer = torch.from_numpy, torch.frombuffer
    torch.from_numpy = lambda array: _mark(from_numpy(array), True)
    torch.frombuffer = lambda *args, **kwargs: _mark(frombuffer(*args, **kwargs), True)


def _replace_constructors():
    """Replaces the constructors of parameters and torch.Tensor(2, 3), because torch calls no mode
    for them. A parameter is on its tensor's device; torch.Tensor(2, 3) is always on the host."""
    parameter, lazy = torch.nn.Parameter, torch.nn.UninitializedParameter
    new_tensor, new_parameter, new_lazy = torch.Tensor.__new__, parameter.__new__, lazy.__new__

    def all_on_host(values):
        with torch._C.DisableTorchFunction():  # the real device, not the emulated one
            return all(map(_on_host, _tensors(values)))

    def marked_tensor(cls, *args, **kwargs):
        return _mark(new_tensor(cls, *args, **kwargs), all_on_host(args))

    def marked_parameter(cls, data=None, requires_grad=True):
        if data is None:
            data = torch.empty(0)
        return _mark(new_parameter(cls, data, requires_grad), all_on_host([data]))

    def marked_lazy(cls, requires_grad=True, device=None, dtype=None):
        like = torch.empty(0, device=device)
        return _mark(new_lazy(cls, requires_grad, device, dtype), all_on_host([like]))

    torch.Tensor.__new__, parameter.__new__, lazy.__new__ = (marked_tensor, marked_parameter,
                                                             marked_lazy)


def _enter_threads():
    """Also enters the mode in new threads, because each thread has its own stack of modes."""
    run = threading.Thread.run

    def run_in_mode(self):
        with _Mode():
            run(self)

    threading.Thread.run = run_in_mode


_mode = None


def active():
    """True if this process has entered the mode."""
    return _mode is not None


def forget_values():
    """Makes "cuda" mean torch's meta device, where a tensor has only a shape and a type."""
    global _stand_in
    _stand_in = torch.device("meta")


def enter(known=()):
    """Makes "cuda" mean the CPU in this process, permanently. Call it before candidate code runs.

    `known`: values that override module_cpu_cuda.Properties.
    """
    global _mode
    if _mode is not None:
        return
    device = module_cpu_cuda.Properties(known)
    module_cpu_cuda.replace_cuda(device)
    module_cpu_triton.expect_triton(device)
    module_cpu_packages.refuse_packages()
    _replace_default_device()
    _replace_compilers()
    _replace_registrations()
    _replace_from_memory()
    _replace_constructors()
    torch.Tensor.record_stream = lambda self, stream: None
    _enter_threads()
    _mode = _Mode()
    _mode.__enter__()

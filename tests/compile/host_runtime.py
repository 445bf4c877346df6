# SPDX-License-Identifier: MIT
"""A fake of what loads a host half: a table of functions in Python, on the CPU.

load(FOLDER) gives the module of FOLDER/module.so, whose stubs and variables FOLDER/names.txt tells.
Each launch is noted in `launches`; `kernels` may hold a function for its expression, which gets the
addresses of the arguments' values. `errors`, by expression, are returned instead.
"""

import ctypes
import importlib.util
import os
import sys

import torch  # noqa: F401 (host halves want its libraries; scripts use it)

launches, kernels, errors, attributes_set = [], {}, {}, []
allocations = {}
_stubs, _variables, _storage, _kept = [], [], {}, []

POINTERS_ONLY = 2 ** 64 - 1
INVALID_DEVICE_FUNCTION, INVALID_SYMBOL, INVALID_VALUE = 98, 13, 1
_pointer, _size, _int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_numbers = ctypes.POINTER(ctypes.c_uint)


class Argument(ctypes.Structure):
    _fields_ = [("data", _pointer), ("size", _size)]


def expression_at(address):
    for begin, size, expression in _stubs:
        if begin <= address < begin + size:
            return expression
    return None


def launch(_, code, grid, block, shared, stream, arguments, count, cooperative, cluster):
    expression = expression_at(code)
    if expression is None:
        return INVALID_DEVICE_FUNCTION
    if count == POINTERS_ONLY:
        addresses, sizes = ctypes.cast(arguments, ctypes.POINTER(_pointer)), None
    else:
        addresses = [arguments[i].data for i in range(count)]
        sizes = [arguments[i].size for i in range(count)]
    launches.append((expression, grid[:3], block[:3], shared, sizes))
    if cooperative or cluster[0]:
        launches[-1] += (cooperative, cluster[:3])
    if expression in kernels:
        kernels[expression](addresses)
    return errors.get(expression, 0)


def set_attribute(_, stub, attribute, value):
    attributes_set.append((expression_at(stub), attribute, value))
    return 0 if expression_at(stub) else INVALID_DEVICE_FUNCTION


def attributes(_, stub, out):
    ctypes.memset(out, 0, 64)
    return 0 if expression_at(stub) else INVALID_DEVICE_FUNCTION


def occupancy(_, stub, blocks, block_size, shared):
    blocks[0] = 2048 // block_size
    return 0 if expression_at(stub) else INVALID_DEVICE_FUNCTION


def symbol_address(_, shadow, address, size):
    for begin, bytes_, name in _variables:
        if begin == shadow:
            _storage.setdefault(name, ctypes.create_string_buffer(bytes_))
            address[0] = ctypes.addressof(_storage[name])
            size[0] = bytes_
            return 0
    return INVALID_SYMBOL


def variable(name):
    return _storage[name].raw


def allocate(_, pointer, bytes_):
    buffer = ctypes.create_string_buffer(bytes_)
    pointer[0] = ctypes.addressof(buffer)
    allocations[ctypes.addressof(buffer)] = buffer
    return 0


def release(_, pointer):
    return 0 if allocations.pop(pointer, None) is not None else INVALID_VALUE


def synchronize(_):
    return 0


def error_taken(_):
    return 0


def copy(_, target, source, bytes_):
    ctypes.memmove(target, source, bytes_)
    return 0


def fill(_, target, value, bytes_):
    ctypes.memset(target, value, bytes_)
    return 0


_FUNCTIONS = [
    (launch, [_pointer, _numbers, _numbers, _size, _pointer, ctypes.POINTER(Argument), _size, _int,
              _numbers]),
    (set_attribute, [_pointer, _int, _int]),
    (attributes, [_pointer, _pointer]),
    (occupancy, [_pointer, ctypes.POINTER(_int), _int, _size]),
    (symbol_address, [_pointer, ctypes.POINTER(_pointer), ctypes.POINTER(_size)]),
    (allocate, [ctypes.POINTER(_pointer), _size]),
    (release, [_pointer]),
    (synchronize, []),
    (error_taken, []),
    (copy, [_pointer, _pointer, _size]),
    (fill, [_pointer, _int, _size]),
]


def table():
    """The Runtime of kbench_runtime.hpp."""
    words = [ctypes.c_uint64(3), ctypes.c_uint64(0)]
    for function, types in _FUNCTIONS:
        callback = ctypes.CFUNCTYPE(_int, _pointer, *types)(function)
        _kept.append(callback)
        words.append(ctypes.c_uint64(ctypes.cast(callback, _pointer).value))
    made = (ctypes.c_uint64 * len(words))(*words)
    _kept.append(made)
    return made


def load(folder):
    path = os.path.join(folder, "module.so")
    spec = importlib.util.spec_from_file_location("kbench_extension", path)
    module = importlib.util.module_from_spec(spec)
    with open("/proc/self/maps", encoding="ascii") as maps:
        base = min(int(line.split("-")[0], 16) for line in maps if path in line)
    with open(os.path.join(folder, "names.txt"), encoding="utf-8") as names:
        for line in names:
            kind, offset, size, name = line.rstrip("\n").split(" ", 3)
            rows = _stubs if kind == "stub" else _variables
            rows.append((base + int(offset), int(size), name))
    ctypes.CDLL(path).kbench_split_start(table())
    spec.loader.exec_module(module)
    return module


def number(kind, address):
    return ctypes.cast(address, ctypes.POINTER(kind))[0]


def floats(address, count):
    """The floats that the pointer at `address` leads to."""
    begin = ctypes.cast(address, ctypes.POINTER(_pointer))[0]
    return (ctypes.c_float * count).from_address(begin)


def message_of(call):
    try:
        call()
    except Exception as error:  # pylint: disable=broad-except
        return str(error).split("\n", maxsplit=1)[0]
    return "no error"


sys.stdout.reconfigure(line_buffering=True)

# SPDX-License-Identifier: MIT
"""Replaces load_inline, load and torch.cuda's run-time kernels.

A candidate's builds become requests of plain data, which kbench compiles outside the candidate's
process.
"""

import ctypes
import inspect
import json
import os
import re
import sys
import types

import torch

from kbench_worker.module_includes import Headers, is_below, is_own
from kbench_worker.module_refusals import refusal


class BuildFailure(Exception):
    """The exception of request_compile: a cause slug, and the compiler's log or a message."""

    def __init__(self, cause, log):
        super().__init__(log)
        self.cause = cause


class BuildError(RuntimeError):
    """An extension was not built. Raised in the places where torch raises its own RuntimeError."""

    def __init__(self, name, log, cause="build_failed"):
        super().__init__(f"Error building extension {name!r}: {log}")
        self.cause = cause
        lines = [line.strip() for line in log.splitlines() if line.strip()] or ["no reason given"]
        first = next((line for line in lines if "error" in line), lines[0])
        self.sentence = f"Error building extension {name!r}: {first}"


class DryImportStop(BaseException):
    """Ends a dry import, because the candidate needs an extension that is not built. Candidates
    must not catch it, so it is a BaseException."""


class _Pending:
    """Replaces a member of an extension that a dry import requested."""

    def __init__(self, name):
        self.__dict__["_pending_name"] = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Pending(f"{self._pending_name}.{name}")

    def __call__(self, *args, **kwargs):
        raise DryImportStop(self._pending_name)

    def _needs_value(self, *args):
        raise DryImportStop(self._pending_name)

    __iter__ = __len__ = __getitem__ = __bool__ = __int__ = __float__ = __index__ = _needs_value


class _PendingModule(types.ModuleType):
    """Replaces an extension in a dry import; its functions can be named but not called."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Pending(f"{self.__name__}.{name}")


def _strings(value):
    return [value] if isinstance(value, str) else list(value or [])


def _functions(functions):
    """{name: docstring}, or None if the sources contain the bindings."""
    if functions is None:
        return None
    if isinstance(functions, str):
        functions = [functions]
    if isinstance(functions, list):
        return {name: name for name in functions}
    if isinstance(functions, dict):
        return dict(functions)
    raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")


def _is_cuda_file(path):
    return os.path.splitext(path)[1] in (".cu", ".cuh")


def _refuse_sycl(call):
    if call.get("sycl_sources") or call.get("with_sycl"):
        raise refusal(BuildError(call["name"], "an extension with SYCL sources cannot be built "
                                 "here", "unsupported"))


def _include_paths(call, folder):
    """The include paths; relative ones start at the candidate's folder."""
    return [os.path.normpath(os.path.join(folder, os.fspath(path)))
            for path in _strings(call.get("extra_include_paths"))]


def _common(call, folder):
    return {
        "extra_cflags": _strings(call.get("extra_cflags")),
        "extra_cuda_cflags": _strings(call.get("extra_cuda_cflags")),
        "extra_ldflags": _strings(call.get("extra_ldflags")),
        "extra_include_paths": [path for path in _include_paths(call, folder)
                                if not is_own(path, folder)],
        "is_python_module": bool(call.get("is_python_module", True)),
    }


def _inline_request(call, folder):
    headers = Headers(folder, _include_paths(call, folder))
    sources = {}
    for kind in ("cpp_sources", "cuda_sources"):
        value = call.get(kind)
        optional = value is None and kind == "cuda_sources"
        if not optional and not isinstance(value, (str, list)):
            raise TypeError(f"{kind} must be a string or a list of strings, "
                            f"not a {type(value).__name__}")
        sources[kind] = _strings(value)
        for source in sources[kind]:
            if not isinstance(source, str):
                raise TypeError(f"{kind} contains a {type(source).__name__}, not a string")
        sources[kind] = [headers.expanded(source, f"{kind}[{i}]")
                         for i, source in enumerate(sources[kind])]
    with_cuda = call.get("with_cuda")
    return {
        "kind": "inline",
        **sources,
        "cpp_files": [""] * len(sources["cpp_sources"]),
        "cuda_files": [""] * len(sources["cuda_sources"]),
        "functions": _functions(call.get("functions")),
        "with_cuda": bool(sources["cuda_sources"]) if with_cuda is None else bool(with_cuda),
        "with_pytorch_error_handling": bool(call.get("with_pytorch_error_handling", True)),
        "no_implicit_headers": bool(call.get("no_implicit_headers", False)),
        **_common(call, folder),
    }


def _placed(name, path, folder):
    """The absolute path of a source of `load`; relative ones start at the candidate's folder."""
    path = os.fspath(path)
    full = os.path.normpath(os.path.join(folder, path))
    inside = is_below(full, folder)
    if not inside and os.pardir in path.split(os.sep):
        raise BuildError(name, f"the file {os.path.relpath(full, folder)} is outside of the "
                         "candidate's folder: move it into that folder", "outside_folder")
    if inside and not os.path.exists(full):
        raise BuildError(name, f"the file {os.path.relpath(full, folder)} does not exist in the "
                         "candidate's folder", "missing_file")
    return full


def _files_request(call, folder):
    paths = [_placed(call["name"], path, folder) for path in _strings(call["sources"])]
    texts = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            texts[path] = file.read()
    def name(path):
        """The path relative to the folder, as its author knows it; the folder has another name each
        time."""
        return os.path.relpath(path, folder) if is_below(path, folder) else path

    headers = Headers(folder, _include_paths(call, folder))
    texts = {path: headers.expanded(text, name(path), path) for path, text in texts.items()}
    cuda = [path for path in paths if _is_cuda_file(path)]
    cpp = [path for path in paths if not _is_cuda_file(path)]
    with_cuda = call.get("with_cuda")
    return {
        "kind": "files",
        "cpp_sources": [texts[path] for path in cpp],
        "cuda_sources": [texts[path] for path in cuda],
        "cpp_files": [name(path) for path in cpp],
        "cuda_files": [name(path) for path in cuda],
        "functions": None,
        "with_cuda": bool(cuda) if with_cuda is None else bool(with_cuda),
        "with_pytorch_error_handling": False,
        "no_implicit_headers": True,
        **_common(call, folder),
    }


def _check_name(name, request):
    """torch uses the name as a C++ identifier, and cannot build with any other name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an extension must be a string, not a "
                        f"{type(name).__name__}")
    if request["is_python_module"] and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,199}", name):
        raise BuildError(name[:50], f"the extension's name {ascii(name[:50])} is not a C++ "
                         "identifier", "bad_extension_name")


class _Builder:
    """Turns calls into requests and keeps their results."""

    def __init__(self, request_compile):
        self._request_compile = request_compile
        self._latest = {}  # name -> (fingerprint, version, result)

    def build(self, name, request):
        """The extension of a request. A repeated name with other sources gets a suffix."""
        _check_name(name, request)
        fingerprint = json.dumps(request, sort_keys=True)
        version = 0
        if name in self._latest:
            known, version, result = self._latest[name]
            if known == fingerprint:
                return result
            version += 1
        request["name"] = f"{name}_v{version}" if version else name
        result = self._ask(request)
        if result is None:
            result = _PendingModule(request["name"])
        self._latest[name] = fingerprint, version, result
        return result

    def kernel(self, request):
        """The launch function of a kernel, or None in a dry import."""
        return self._ask(request)

    def _ask(self, request):
        try:
            return self._request_compile(request)
        except Exception as error:
            cause = getattr(error, "cause", "build_failed")
            raise BuildError(request["name"], str(error), cause) from error


def _like(original, replacement):
    """`replacement` with the arguments that the installed torch's `original` takes."""
    signature = inspect.signature(original)

    def call(*args, **kwargs):
        return replacement(dict(signature.bind(*args, **kwargs).arguments))

    call.__name__ = call.__qualname__ = original.__name__
    call.__module__ = original.__module__
    call.__doc__ = original.__doc__
    call.__signature__ = signature
    return call


# Dynamic shared memory that a kernel may use without configuration.
_PLAIN_SHARED_BYTES = 48 * 1024


class _Kernel:
    """The result of torch.cuda._compile_kernel; `launch` is kbench's."""

    def __init__(self, name, launch):
        self._name = name
        self._launch = launch
        self._max_shared_mem_bytes = 0

    def __call__(self, grid=(1, 1, 1), block=(1, 1, 1), args=None, shared_mem=0, stream=None):
        plain = [self._argument(value) for value in args or []]
        if shared_mem >= _PLAIN_SHARED_BYTES and shared_mem > self._max_shared_mem_bytes:
            raise RuntimeError(
                f"Kernel requires {shared_mem} bytes of shared memory, but "
                f"{self._max_shared_mem_bytes} are configured: call set_shared_memory_config()")
        if self._launch is None:
            raise DryImportStop(self._name)
        self._launch([int(grid[i]) for i in range(3)], [int(block[i]) for i in range(3)], plain,
                     int(shared_mem))

    def set_shared_memory_config(self, shared_mem_bytes):
        limit = torch.cuda.get_device_properties().shared_memory_per_block_optin
        if shared_mem_bytes > limit:
            raise RuntimeError(f"Requested shared memory ({shared_mem_bytes} bytes) exceeds "
                               f"device limit ({limit} bytes)")
        self._max_shared_mem_bytes = shared_mem_bytes

    def _argument(self, value):
        """(type, value) of a kernel argument: torch passes ints with 32 bits, floats with 64."""
        if isinstance(value, torch.Tensor):
            if not value.is_cuda and not value.is_pinned():
                raise ValueError("All tensor arguments must be CUDA tensors or pinned CPU tensors")
            return "pointer", value.data_ptr()
        if isinstance(value, int):
            return "int32", ctypes.c_int(value).value
        if isinstance(value, float):
            return "float64", value
        raise TypeError(f"Unsupported argument type: {type(value)}")


def _check_capability(asked):
    """Raises if the code is for another device; it would compile but could not be loaded."""
    if asked:
        own = "".join(map(str, torch.cuda.get_device_capability()))
        if str(asked).rstrip("af") != own:
            raise RuntimeError(f"CUDA error: no kernel image is available for execution on the "
                               f"device: the kernel is for {asked}, the device has {own}")


def _compile_kernel_request(call, folder):
    paths = [os.path.normpath(os.path.join(folder, os.fspath(path)))
             for path in call.get("cuda_include_dirs") or []]
    # Some versions of torch have a parameter for a header, which precedes the kernel.
    header = call.get("header_code")
    own_flags = getattr(torch.cuda._utils, "_get_gpu_rtc_compatible_flags", list)
    return {
        "kind": "kernel",
        "name": call["kernel_name"],
        "source": Headers(folder, paths).expanded(
            (header + "\n" if header else "") + call["kernel_source"], "kernel_source"),
        "extra_include_paths": [path for path in paths if not is_own(path, folder)],
        "extra_cuda_cflags": _strings(call.get("nvcc_options")) + own_flags(),
    }


def _replace_everywhere(original, replacement):
    """Replaces a function, also in modules that imported it under other names."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            if value is original:
                names[name] = replacement


def _have_cuda_home(cpp_extension):
    """Sets CUDA_HOME if it is missing. Code that only mentions it needs no toolkit, because torch's
    packages have the headers."""
    if cpp_extension.CUDA_HOME is None:
        packages = os.path.dirname(os.path.dirname(torch.__file__))
        major = (torch.version.cuda or "13").split(".")[0]
        cpp_extension.CUDA_HOME = os.path.join(packages, "nvidia", f"cu{major}")


def install(request_compile, kernels, folder):
    """Makes `request_compile(request)` build candidates' extensions in this process.

    `folder`: the candidate's, with the files that `load` names.

    `request_compile` returns the extension's module (anything but None if `is_python_module` is
    false), or None in a dry import. It raises BuildFailure or another exception with the compiler's
    log. With `kernels`, also replaces torch.cuda._compile_kernel; for it, `request_compile` returns
    a function launch(grid, block, [(type, value)], shared_bytes).
    """
    from torch.utils import cpp_extension
    builder = _Builder(request_compile)
    _have_cuda_home(cpp_extension)

    def load_inline(call):
        _refuse_sycl(call)
        return builder.build(call["name"], _inline_request(call, folder))

    def load(call):
        _refuse_sycl(call)
        if call.get("is_standalone"):
            raise refusal(BuildError(call["name"], "a standalone executable cannot be built here",
                                     "unsupported"))
        return builder.build(call["name"], _files_request(call, folder))

    def compile_kernel(call):
        _check_capability(call.get("compute_capability"))
        launch = builder.kernel(_compile_kernel_request(call, folder))
        return _Kernel(call["kernel_name"], launch)

    replacements = [(cpp_extension.load_inline, load_inline), (cpp_extension.load, load)]
    if kernels and hasattr(torch.cuda, "_compile_kernel"):
        replacements.append((torch.cuda._compile_kernel, compile_kernel))
    for original, replacement in replacements:
        _replace_everywhere(original, _like(original, replacement))

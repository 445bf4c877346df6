# SPDX-License-Identifier: MIT
"""Packages that access a GPU without torch. Without a GPU they can be imported, but any use raises
Unsupported with the used name.

The real packages would find no driver, or another device than the candidate's.
"""

import importlib.machinery
import sys
import types

from kbench_worker.module_refusals import Unsupported, refusal

_PACKAGES = ("cupy", "cupyx", "cuda.core", "cuda.bindings", "cuda.cuda", "cuda.cudart",
             "cuda.nvrtc", "cuda.tile", "cuda.cccl", "pycuda", "numba.cuda", "cutlass", "tilelang")


def _package_of(name):
    """The package in the list that a module belongs to or is itself; None for other modules."""
    return next((package for package in _PACKAGES
                 if name == package or name.startswith(package + ".")), None)


class _Refused:
    """Replaces a member of a package. It can be named, passed on and compared."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Refused(f"{self._name}.{name}")

    def __repr__(self):
        return self._name

    def __instancecheck__(self, value):
        return False

    def __call__(self, *args, **kwargs):
        raise refusal(Unsupported(self._name))

    def __mro_entries__(self, bases):
        raise refusal(Unsupported(self._name))

    __enter__ = __iter__ = __getitem__ = __bool__ = __index__ = __call__


class _Package(types.ModuleType):
    """A module that seems to have every name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Refused(f"{self.__name__}.{name}")


class _Finder:
    """Finds replacements for installed packages; others are missing as usual."""

    def find_spec(self, name, path=None, target=None):
        package = _package_of(name)
        if package is None:
            return None
        if name == package and importlib.machinery.PathFinder.find_spec(name, path) is None:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return _Package(spec.name)

    def exec_module(self, module):
        pass


def refuse_packages():
    """Installs the replacements in this process. Packages that are already imported stay usable."""
    for name in list(sys.modules):
        if _package_of(name) is not None:
            del sys.modules[name]
    sys.meta_path.insert(0, _Finder())

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace kbench::worker {

/// A module of the Python files that travel inside the binary: `problem_host` is problem_host.py.
/// They are the package kbench_worker, made as a whole on the first call, which needs a running
/// interpreter and throws what Python raises. Never destroyed: the interpreter is not finalised
/// either.
pybind11::module_& embedded_module(const char* name);

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace kbench::worker {

/// Returns a module of the embedded package kbench_worker: `problem_host` is problem_host.py. The
/// first call makes the whole package; it needs a running interpreter and throws Python's
/// exceptions. The module is never destroyed, because the interpreter is not finalised either.
pybind11::module_& embedded_module(const char* name);

}  // namespace kbench::worker

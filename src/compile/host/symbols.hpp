// SPDX-License-Identifier: MIT
#pragma once

#include "compile/host/reading.hpp"

namespace kbench {

/// Finds the stubs and variables of an object by its symbols. The object is refused if it is no
/// shared object, or if it calls what neither it nor one of the libraries defines. Throws
/// kbench::Error where a library cannot be read.
ObjectRead read_object(const ObjectJob& job);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include "compile/host/reading.hpp"

namespace kbench {

/// Finds the stubs and variables of an object by its symbols. Refuses the object if it is not a
/// shared object, or if it calls a function that neither it nor a library defines. Throws
/// kbench::Error if a library cannot be read.
ObjectRead read_object(const ObjectJob& job);

}  // namespace kbench

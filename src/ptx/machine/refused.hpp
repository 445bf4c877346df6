// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"

namespace kbench::ptx {

/// In place of a statement that cannot be run: an instruction that is a fault (kUnsupported) for
/// the lanes that reach it. The text of `rejected` is kept in the function.
Instr refused_instruction(FunctionDecode& function, const Statement& statement,
                          const Rejected& rejected);

}  // namespace kbench::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"

namespace kbench::ptx {

/// An instruction in place of a statement that cannot be run. It raises a kUnsupported fault in
/// lanes that reach it. `function` keeps the text of `rejected`.
Instr refused_instruction(FunctionDecode& function, const Statement& statement,
                          const Rejected& rejected);

}  // namespace kbench::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/parse/cursor.hpp"

/// The parts of PTX's grammar. Each reads what stands at the cursor and throws kbench::Error where
/// something else stands there.
namespace kbench::ptx {

/// A constant expression, at its value: integers of 64 bits as in C, or a floating literal.
Operand constant(Cursor& cursor);
/// Whether a constant expression (and no name) begins here.
bool at_constant(const Cursor& cursor);
/// A constant expression of integers.
std::int64_t integer_constant(Cursor& cursor);

/// ".global .align 4 .b8 x[4] = {…}, y;"
std::vector<Variable> variables(Cursor& cursor, bool external);
/// "(.param .u64 x, …)"
std::vector<Variable> parameters(Cursor& cursor);

/// "@!p add.s32 d, a, b;"
Statement statement(Cursor& cursor);

}  // namespace kbench::ptx

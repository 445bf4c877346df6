// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/parse/cursor.hpp"

/// The parts of PTX's grammar. Each function parses one part at the cursor and throws kbench::Error
/// if other text is there.
namespace kbench::ptx {

/// A constant expression: a 64-bit integer as in C, or a floating literal.
Operand constant(Cursor& cursor);
/// True if a constant expression, not a name, begins here.
bool at_constant(const Cursor& cursor);
/// An integer constant expression.
std::int64_t integer_constant(Cursor& cursor);

/// ".global .align 4 .b8 x[4] = {…}, y;"
std::vector<Variable> variables(Cursor& cursor, bool external);
/// "(.param .u64 x, …)"
std::vector<Variable> parameters(Cursor& cursor);

/// "@!p add.s32 d, a, b;"
Statement statement(Cursor& cursor);

}  // namespace kbench::ptx

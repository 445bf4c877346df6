// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Checks at run time that the lanes of a warp, and the warps of a block, reach barriers together.
namespace kbench::ptx {

struct Context;
struct Instr;

/// Call before lanes of a warp arrive at a barrier. Reports other lanes of the warp that arrived
/// there by another instruction, or that went around the barrier before.
void check_arrival(Context& c, const Instr& in, unsigned id);

/// Call before the waiters of a barrier are released. Reports threads that have ended after they
/// went around it. `last`: the instruction at which the running lanes arrive; null if the barrier
/// is complete because threads have ended.
void check_missing(Context& c, const Instr* last, unsigned id);

}  // namespace kbench::ptx

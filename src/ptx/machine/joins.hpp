// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Static part of the check for lanes that go around a barrier. A join of a barrier is a piece of
/// code that every lane executes after the barrier unless it returns, and that a lane which went
/// around the barrier also reaches.
namespace kbench::ptx {

struct Instr;
struct Program;

/// A barrier that lanes can go around, or a call of a function that has barriers.
struct BarrierSite {
  std::vector<std::uint32_t> joins;  ///< rows of Trail::passes
  std::uint32_t own = 0;             ///< row that counts arrivals here; 0: none
  bool once = false;                 ///< outside of loops, so lanes arrive here once
  std::uint32_t distance = 0;        ///< blocks between the barrier and the end of the function
};

/// The barriers of a program, as find_joins() finds them.
struct BarrierSites {
  std::unordered_map<const Instr*, BarrierSite> of;
  std::uint32_t rows = 1;  ///< of Trail::passes
};

/// How often the lanes of a warp have passed joins.
struct Trail {
  std::uint32_t begun = 0;   ///< lanes that the warp began with
  std::uint32_t judged = 0;  ///< exited lanes that have been missing at a barrier
  std::vector<std::array<std::uint32_t, 32>> passes;  ///< by join and lane; row 0 is unused
};

/// True if all lanes of a warp must arrive at this barrier of the block together: a bar.sync,
/// bar.red or one with .aligned. `text`: opcode with modifiers.
bool is_aligned_barrier(std::string_view text);

/// Fills Program::sites, Function::has_sites and Instr::join. Call it once.
void find_joins(Program& program);

}  // namespace kbench::ptx

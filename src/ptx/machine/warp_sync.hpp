// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"

/// Warp-synchronous instructions as data, so that lanes can meet at different copies of one.
namespace kbench::ptx {

/// How an operand lies in the lanes.
enum class Lanes : std::uint8_t { kNothing, kPredicate, k32, k64 };

struct SyncRow {
  Execute execute = nullptr;
  std::array<Lanes, 4> sources{};
  Lanes destination = Lanes::kNothing;
  unsigned members = 0;  ///< which source is the mask
};

/// The row of an instruction; null where it is no warp-synchronous one.
const SyncRow* find_sync(const Instr& in);

}  // namespace kbench::ptx

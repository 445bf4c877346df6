// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"

/// Tables of warp-synchronous instructions, so that lanes can meet at different copies of one.
namespace kbench::ptx {

/// Layout of an operand over the lanes.
enum class Lanes : std::uint8_t { kNothing, kPredicate, k32, k64 };

struct SyncRow {
  Execute execute = nullptr;
  std::array<Lanes, 4> sources{};
  Lanes destination = Lanes::kNothing;
  unsigned members = 0;  ///< index of the source that holds the member mask
};

/// The row of an instruction; null if it is not warp-synchronous.
const SyncRow* find_sync(const Instr& in);

}  // namespace kbench::ptx

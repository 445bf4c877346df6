// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {

/// When an instruction that cannot be run is refused.
enum class Refuse : std::uint8_t { kSeen, kReached };

/// Decodes a parsed module. Throws Rejected where it cannot be run; with Refuse::kReached not for
/// an instruction.
std::unique_ptr<Program> build(const ModuleText& text, Refuse refuse = Refuse::kSeen);

/// Places of variables in shared memory; they overlap only where no kernel uses both.
struct SharedLayout {
  std::vector<std::vector<std::uint64_t>> offsets;  ///< by function (last: the module), variable
  std::vector<std::uint32_t> static_bytes;          ///< by function: what an entry uses
  std::vector<std::uint32_t> dynamic_begin;         ///< by function
  /// By function: functions called. The last row, whose number may stand in the others, is for
  /// calls through a register: what they may reach.
  std::vector<std::vector<std::size_t>> calls;
};
SharedLayout lay_out_shared(const ModuleText& text);

}  // namespace kbench::ptx

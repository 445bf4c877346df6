// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {

/// When to refuse an instruction that cannot be run: at decoding, or when a launch reaches it.
enum class Refuse : std::uint8_t { kSeen, kReached };

/// Decodes a parsed module. Throws Rejected if it cannot be run. With Refuse::kReached, an
/// instruction is no reason for that.
std::unique_ptr<Program> build(const ModuleText& text, Refuse refuse = Refuse::kSeen);

/// Offsets of variables in shared memory. They overlap only if no kernel uses both.
struct SharedLayout {
  std::vector<std::vector<std::uint64_t>> offsets;  ///< by function (last: the module), variable
  std::vector<std::uint32_t> static_bytes;          ///< by function: bytes that an entry uses
  std::vector<std::uint32_t> dynamic_begin;         ///< by function
  /// By function: functions that it calls. The last row lists the possible targets of a call
  /// through a register; its index may occur in the other rows.
  std::vector<std::vector<std::size_t>> calls;
};
SharedLayout lay_out_shared(const ModuleText& text);

}  // namespace kbench::ptx

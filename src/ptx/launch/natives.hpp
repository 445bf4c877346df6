// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ptx/machine/exec.hpp"

/// Device functions such as vprintf that every CUDA program may call and no module defines.
namespace kbench::ptx {

/// Location of an argument or result of a call, for all lanes.
struct Place {
  std::byte* lanes = nullptr;          ///< of lane 0; null: the result is not used
  std::size_t stride = 0;              ///< bytes from lane to lane
  std::optional<std::uint64_t> local;  ///< offset, if it is in local memory
};

/// A call of a native function: its arguments in order, and its result.
struct NativeCall {
  std::array<Place, 5> arguments;
  Place result;
  std::uint64_t argument(std::size_t k, unsigned lane, unsigned bytes = 8) const;
  void give(Context& c, unsigned lane, std::uint64_t value, unsigned bytes) const;
};

struct NativeRow {
  std::string_view name;
  std::array<std::uint32_t, 5> parameters;  ///< bytes of each; 0: none
  std::uint32_t result;                     ///< bytes; 0: none
  void (*run)(Context& c, const Instr& in, const NativeCall& call);
};

/// The row of the native function of this name; null if there is none.
const NativeRow* find_native(std::string_view name);

}  // namespace kbench::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ptx/machine/exec.hpp"

/// Functions that every CUDA program may call and no module defines.
namespace kbench::ptx {

/// Where an argument or result of a call lies, for all lanes.
struct Place {
  std::byte* lanes = nullptr;          ///< of lane 0; null: a result that nobody wants
  std::size_t stride = 0;              ///< to the next lane
  std::optional<std::uint64_t> local;  ///< in local memory: the offset there
};

/// A call of such a function: its arguments in order, and its result.
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

/// The function of this name; null where there is none.
const NativeRow* find_native(std::string_view name);

}  // namespace kbench::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "ptx/machine/exec.hpp"

/// Texts that a kernel points to.
namespace kbench::ptx {

/// The string at a generic address; nothing after a fault has been raised.
std::optional<std::string> read_string(Context& c, const Instr& in, unsigned lane,
                                       std::uint64_t address);

/// What one lane's vprintf(format, arguments) writes, and the arguments that it took.
struct Printed {
  std::string text;
  int conversions = 0;
};

/// Nothing after a fault has been raised.
std::optional<Printed> format_printf(Context& c, const Instr& in, unsigned lane,
                                     std::uint64_t format, std::uint64_t arguments);

}  // namespace kbench::ptx

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "ptx/machine/exec.hpp"

/// Strings that kernels point to, and printf.
namespace kbench::ptx {

/// The string at a generic address; none after a fault.
std::optional<std::string> read_string(Context& c, const Instr& in, unsigned lane,
                                       std::uint64_t address);

/// Output of one lane's vprintf(format, arguments), and the number of arguments that it took.
struct Printed {
  std::string text;
  int conversions = 0;
};

/// None after a fault.
std::optional<Printed> format_printf(Context& c, const Instr& in, unsigned lane,
                                     std::uint64_t format, std::uint64_t arguments);

}  // namespace kbench::ptx

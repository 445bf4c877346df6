// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace kbench {

/// A name that torch has removed, as compilers report it, and what to write instead. To add one: a
/// row in gone_names.cpp, and a source that needs the name in host_gone_names_test.cpp.
struct GoneName {
  std::array<std::string_view, 2> words;  ///< both are in the error; the second may be empty
  std::string_view instead;               ///< advice, as a clause
};
std::span<const GoneName> gone_names();

/// Advice for an error of clang, GCC or nvcc about a name that torch has removed; empty for other
/// errors.
std::string_view instead_of_gone(std::string_view error);

}  // namespace kbench

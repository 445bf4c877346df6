// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace kbench {

/// A name that older versions of torch had, as compilers speak of it, and what to write instead. To
/// add one: a row in gone_names.cpp, and a source that fails for want of it in
/// host_gone_names_test.cpp.
struct GoneName {
  std::array<std::string_view, 2> words;  ///< an error that holds both; the second may be empty
  std::string_view instead;               ///< what to do, as a clause
};
std::span<const GoneName> gone_names();

/// What to write instead of the name that an error of clang, GCC or nvcc is about; empty where it
/// is about none of torch's former ones.
std::string_view instead_of_gone(std::string_view error);

}  // namespace kbench

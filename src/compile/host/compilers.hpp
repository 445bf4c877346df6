// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace kbench {

/// Time limit for a compiler to print its version.
inline constexpr std::chrono::seconds kVersionLimit{20};

/// A C++ compiler of this machine.
struct FoundCompiler {
  std::filesystem::path path;
  bool is_clang = false;
  int major = 0;
  std::string version;  ///< "14.0.6"
  bool has_lld = false;
  /// "clang++ 14.0.6"
  std::string name() const;
};

/// The compilers to try, best first: clang++ 14 or newer (compiles host code in a second), then g++
/// 10 or newer (five to six seconds). With `named`, only those. Leaves out compilers that do not
/// run.
std::vector<FoundCompiler> find_host_compilers(const std::vector<std::filesystem::path>& named);

}  // namespace kbench

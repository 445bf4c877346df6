// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kbench/problem.hpp"

namespace kbench {

/// The entry of one problem in sizes.json; problems/README.md describes its format.
struct SizesEntry {
  std::map<std::string, Sizes> named_sizes;
  std::vector<std::string> tags;
  std::map<std::string, std::string> distributions_off;
};

/// The entries of `set`/sizes.json by problem key; none if the file does not exist. Throws
/// UsageError if the file is not JSON, has the wrong form, or names a problem that the set lacks.
std::map<std::string, SizesEntry> read_sizes(const std::filesystem::path& set);

}  // namespace kbench

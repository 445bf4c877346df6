// SPDX-License-Identifier: MIT
#include "cli/options/out_file.hpp"

#include <fmt/format.h>

namespace kbench::cli {

std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume) {
  if (!out.empty()) return out;
  std::filesystem::path path = stem + ".jsonl";
  for (int n = 2; !resume && std::filesystem::exists(path); ++n)
    path = fmt::format("{}-{}.jsonl", stem, n);
  return path;
}

}  // namespace kbench::cli

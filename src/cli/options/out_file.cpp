// SPDX-License-Identifier: MIT
#include "cli/options/out_file.hpp"

#include <fmt/format.h>

#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/tell.hpp"

namespace kbench::cli {

std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume) {
  if (!out.empty()) return out;
  std::filesystem::path path = stem + ".jsonl";
  for (int n = 2; !resume && std::filesystem::exists(path); ++n)
    path = fmt::format("{}-{}.jsonl", stem, n);
  return path;
}

int interrupted(const char* what, const std::filesystem::path& out) {
  tell("\nkbench: interrupted; finished {} are in {}: go on with --resume\n", what, out.string());
  return kInterrupted;
}

}  // namespace kbench::cli

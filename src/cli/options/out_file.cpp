// SPDX-License-Identifier: MIT
#include "cli/options/out_file.hpp"

#include <fmt/format.h>

#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/tell.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {

std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume) {
  if (!out.empty()) return out;
  std::filesystem::path path = stem + ".jsonl";
  for (int n = 2; !resume && std::filesystem::exists(path); ++n)
    path = fmt::format("{}-{}.jsonl", stem, n);
  return path;
}

int interrupted(std::size_t finished, const char* thing, const std::filesystem::path& out) {
  const std::string how = out.empty()
                              ? "without --out there is no run file to resume"
                              : fmt::format("results are in {}: go on with --resume", out.string());
  tell("\nkbench: interrupted after {}; {}\n", report::counted(finished, thing), how);
  return kInterrupted;
}

}  // namespace kbench::cli

// SPDX-License-Identifier: MIT
#include "compile/host/compilers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kbench/error.hpp"
#include "os/find_program.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestClang = 14;
constexpr int kOldestGcc = 10;
constexpr int kNewestTried = 30;  // clang++-30 is some years away

/// Paths of a compiler on PATH: the plain name first, then versions from the newest down.
std::vector<fs::path> programs(const std::string& name, int oldest) {
  std::vector<fs::path> found;
  if (const auto plain = find_program(name)) found.push_back(*plain);
  for (int major = kNewestTried; major >= oldest; --major) {
    if (const auto file = find_program(fmt::format("{}-{}", name, major))) found.push_back(*file);
  }
  return found;
}

bool links_with_lld(const fs::path& compiler) {
  const auto result =
      run_command({{compiler.string(), "-fuse-ld=lld", "-Wl,--version"}, {}, {}}, kVersionLimit);
  return !result.timed_out && result.output.find("LLD") != std::string::npos;
}

std::optional<FoundCompiler> inspect(const fs::path& path) {
  try {
    // clang (from 9 on) prints its own version for -dumpversion, GCC (from 7 on) for
    // -dumpfullversion.
    const auto which = run_command({{path.string(), "--version"}, {}, {}}, kVersionLimit);
    if (!which.is_success()) return std::nullopt;
    FoundCompiler found{path, which.output.find("clang") != std::string::npos, 0, {}, false};
    const auto version =
        run_command({{path.string(), found.is_clang ? "-dumpversion" : "-dumpfullversion"}, {}, {}},
                    kVersionLimit);
    found.version = version.output.substr(0, version.output.find('\n'));
    const char* const begin = found.version.data();
    std::from_chars(begin, begin + found.version.size(), found.major);
    if (found.major < (found.is_clang ? kOldestClang : kOldestGcc)) return std::nullopt;
    found.has_lld = links_with_lld(path);
    return found;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string FoundCompiler::name() const {
  return fmt::format("{} {}", is_clang ? "clang++" : "g++", version);
}

std::vector<FoundCompiler> find_host_compilers(const std::vector<fs::path>& named) {
  std::vector<fs::path> candidates = named;
  if (named.empty()) {
    candidates = programs("clang++", kOldestClang);
    const auto gcc = programs("g++", kOldestGcc);
    candidates.insert(candidates.end(), gcc.begin(), gcc.end());
  }
  std::vector<FoundCompiler> found;
  std::vector<fs::path> seen;  // clang++ is often a link to clang++-14
  for (const auto& path : candidates) {
    std::error_code ignored;
    const fs::path real = fs::canonical(path, ignored);
    if (std::ranges::find(seen, real) != seen.end()) continue;
    seen.push_back(real);
    if (auto compiler = inspect(path)) found.push_back(std::move(*compiler));
  }
  std::ranges::stable_sort(found, {}, [](const FoundCompiler& each) { return !each.is_clang; });
  return found;
}

}  // namespace kbench

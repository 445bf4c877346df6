// SPDX-License-Identifier: MIT
#include "compile/guarded_compiler.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "compile/exit_codes.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using Words = std::vector<std::string>;

/// What any compiler needs to start: programs and libraries, and nothing of the user's.
constexpr const char* kSystem[] = {"/usr",
                                   "/lib",
                                   "/lib64",
                                   "/bin",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d",
                                   "/dev/null"};

CompileError make_error(std::string cause, std::string message, const std::string& log) {
  return {std::move(cause), std::move(message), log, 0, false, 0};
}

bool says(std::string_view log, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return log.find(word) != std::string_view::npos; });
}

}  // namespace

std::filesystem::path program_tree(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path();
  const std::filesystem::path tree = folder.parent_path();
  const char* home = std::getenv("HOME");
  const bool is_tree = folder.filename() == "bin" && tree != tree.root_path() &&
                       (home == nullptr || tree != std::filesystem::path(home));
  return is_tree ? tree : program;
}

Words guarded(const GuardedCompiler& compiler, const Words& command) {
  Words words{compiler.guard.string(), "--guard", std::to_string(compiler.memory_bytes)};
  for (const char* path : kSystem) words.insert(words.end(), {"--read", path});
  for (const auto& path : compiler.readable) words.insert(words.end(), {"--read", path.string()});
  words.insert(words.end(), {"--write", compiler.scratch.string(), "--"});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::pair<std::string, std::string>> guarded_environment(
    const GuardedCompiler& compiler) {
  return {{"TMPDIR", compiler.scratch.string()},
          {"LC_ALL", "C"},
          {"CPATH", "/nonexistent"},
          {"NVCC_PREPEND_FLAGS", ""},
          {"NVCC_APPEND_FLAGS", ""}};
}

std::optional<CompileError> compiler_failure(const GuardedCompiler& compiler,
                                             const CommandResult& result,
                                             std::chrono::milliseconds limit) {
  const std::string& log = result.error;
  if (result.timed_out) {
    const double limit_s = std::chrono::duration<double>(limit).count();
    CompileError error =
        make_error("compile_timeout",
                   fmt::format("{} was not done after {:g} s of processor time and was killed",
                               compiler.name, limit_s),
                   log);
    error.limit_s = limit_s;
    return error;
  }
  if (result.status.code == kFaultExit && !result.status.signaled) {
    throw Error(fmt::format("{}: {}", compiler.guard.string(), log));
  }
  if (says(log, {"out of memory", "bad_alloc", "virtual memory exhausted", "Cannot allocate"})) {
    return make_error("compiler_out_of_memory",
                      fmt::format("{} took more than {} MiB of memory", compiler.name,
                                  compiler.memory_bytes >> 20),
                      log);
  }
  const bool killed = result.status.signaled && result.status.code == SIGKILL;
  if (killed || says(log, {"Killed signal", "signal 9"})) {
    return make_error(
        "compiler_killed",
        fmt::format("{} was killed from outside, most likely for want of memory", compiler.name),
        log);
  }
  if (result.status.signaled ||
      says(log, {"internal compiler error", "PLEASE submit a bug", "died due to signal"})) {
    return make_error("compiler_crash", fmt::format("{} crashed", compiler.name), log);
  }
  return std::nullopt;
}

}  // namespace kbench

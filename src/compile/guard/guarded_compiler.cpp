// SPDX-License-Identifier: MIT
#include "compile/guard/guarded_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

#include "compile/budget.hpp"
#include "compile/compiler_fault.hpp"
#include "compile/guard/guard.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using Words = std::vector<std::string>;

/// Paths that any compiler needs to start, and libraries for all users of a machine; no user's own
/// paths.
constexpr const char* kSystem[] = {"/usr",
                                   "/opt",
                                   "/lib",
                                   "/lib64",
                                   "/bin",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d",
                                   "/dev/null"};

bool says(std::string_view log, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return log.find(word) != std::string_view::npos; });
}

std::pair<Fd, Fd> report_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Error("cannot create a pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Reads the report without waiting, because no process that may write to it still runs.
std::string read_report(int fd) {
  std::string text(4096, '\0');
  const ssize_t count = ::read(fd, text.data(), text.size());
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
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

namespace {

CommandResult run_guarded_by(const GuardedCompiler& compiler, const Words& command,
                             const std::function<CommandResult(const SpawnOptions&)>& run) {
  auto [report, report_end] = report_pipe();
  const SpawnOptions spawn{guarded(compiler, command),
                           guarded_environment(compiler),
                           {{report_end.value(), kGuardReport}}};
  CommandResult result = run(spawn);
  if (result.cancelled) throw Error("compiling was cancelled");
  report_end.reset();
  const std::string said = read_report(report.value());
  // After a timeout or a kill the report may be empty, because the guard may not have started yet.
  const bool killed = result.status.signaled && result.status.code == SIGKILL;
  const bool started = said == std::string(1, kGuardStarted);
  if (started || (said.empty() && (result.timed_out || killed))) return result;
  throw CompilerFault(
      fmt::format("{}: {}", compiler.guard.string(),
                  said.empty() ? result.error : said.substr(said.front() == kGuardStarted)));
}

}  // namespace

CommandResult run_guarded(const GuardedCompiler& compiler, const Words& command,
                          std::chrono::milliseconds limit, int cancel_fd) {
  return run_guarded_by(compiler, command, [&](const SpawnOptions& spawn) {
    return run_command(spawn, limit, {}, kMaxLogBytes, cancel_fd);
  });
}

CommandResult run_guarded(const GuardedCompiler& compiler, const Words& command, CompileTime& time,
                          int cancel_fd) {
  return run_guarded_by(compiler, command, [&](const SpawnOptions& spawn) {
    return time.run(spawn, {}, kMaxLogBytes, cancel_fd);
  });
}

std::optional<CompileError> compiler_failure(const GuardedCompiler& compiler,
                                             const CommandResult& result,
                                             std::chrono::milliseconds limit) {
  const std::string& log = result.error;
  if (result.timed_out) {
    const double limit_s = std::chrono::duration<double>(limit).count();
    CompileError error =
        compile_error("compile_timeout",
                      fmt::format("{} was not done after {:g} s of processor time and was killed",
                                  compiler.name, limit_s),
                      log);
    error.limit_s = limit_s;
    return error;
  }
  if (says(log, {"out of memory", "bad_alloc", "virtual memory exhausted", "Cannot allocate"})) {
    return compile_error("compiler_out_of_memory",
                         fmt::format("{} took more than {} MiB of memory", compiler.name,
                                     compiler.memory_bytes >> 20),
                         log);
  }
  const bool killed = result.status.signaled && result.status.code == SIGKILL;
  if (killed || says(log, {"Killed signal", "signal 9"})) {
    return compile_error(
        "compiler_killed",
        fmt::format("the system killed {}, most likely because memory ran out", compiler.name),
        log);
  }
  if (result.status.signaled ||
      says(log, {"internal compiler error", "PLEASE submit a bug", "died due to signal"})) {
    return compile_error("compiler_crash", fmt::format("{} crashed", compiler.name), log);
  }
  return std::nullopt;
}

}  // namespace kbench

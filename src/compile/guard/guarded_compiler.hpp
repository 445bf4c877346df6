// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "os/subprocess.hpp"

namespace kbench {

class CompileTime;

/// Limits of one run of a compiler, and its name in messages.
struct GuardedCompiler {
  std::string name;                             ///< "the host compiler"
  std::filesystem::path guard;                  ///< kbench-cc
  std::size_t memory_bytes = 0;                 ///< of each of its processes
  std::filesystem::path scratch;                ///< the only folder that it may write to
  std::vector<std::filesystem::path> readable;  ///< besides the system's paths
};

/// The folder that a program is installed in: the parent of its `bin`. The program itself, if there
/// is no `bin`, or if the parent is the root or the user's home (the program may be a wrapper
/// there).
std::filesystem::path program_tree(const std::filesystem::path& program);

/// The command line that runs `command` under kbench-cc's guard.
std::vector<std::string> guarded(const GuardedCompiler& compiler,
                                 const std::vector<std::string>& command);

/// Environment variables of a guarded compiler, so that the user's environment cannot change what
/// it reads or where it writes.
std::vector<std::pair<std::string, std::string>> guarded_environment(
    const GuardedCompiler& compiler);

/// Runs `command` under the guard; the status and output are the compiler's own. Throws
/// CompilerFault if the guard could not start it, and kbench::Error if the run is cancelled.
CommandResult run_guarded(const GuardedCompiler& compiler, const std::vector<std::string>& command,
                          std::chrono::milliseconds limit, int cancel_fd);
/// The same, limited by the remaining processor time.
CommandResult run_guarded(const GuardedCompiler& compiler, const std::vector<std::string>& command,
                          CompileTime& time, int cancel_fd);

/// The error if a run failed because of the compiler and not the source: compile_timeout,
/// compiler_out_of_memory, compiler_killed, compiler_crash. Nullopt if the log is about the source.
std::optional<CompileError> compiler_failure(const GuardedCompiler& compiler,
                                             const CommandResult& result,
                                             std::chrono::milliseconds limit);

}  // namespace kbench

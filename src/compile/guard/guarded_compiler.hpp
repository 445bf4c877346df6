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

/// The limits of one run of a compiler that knows none itself, and what messages call it.
struct GuardedCompiler {
  std::string name;                             ///< "the host compiler"
  std::filesystem::path guard;                  ///< kbench-cc
  std::size_t memory_bytes = 0;                 ///< of each of its processes
  std::filesystem::path scratch;                ///< the only folder that it may write to
  std::vector<std::filesystem::path> readable;  ///< besides the system's
};

/// The tree that a program is installed in; of one that stands alone, a wrapper perhaps, or in the
/// user's home, itself.
std::filesystem::path program_tree(const std::filesystem::path& program);

/// `command` behind the guard.
std::vector<std::string> guarded(const GuardedCompiler& compiler,
                                 const std::vector<std::string>& command);

/// The environment of such a compiler: nothing that changes what it reads or where it writes.
std::vector<std::pair<std::string, std::string>> guarded_environment(
    const GuardedCompiler& compiler);

/// Runs `command` behind the guard; how it ends and what it says is the compiler's own. Throws
/// CompilerFault where the guard could not start it, and kbench::Error when the run is cancelled.
CommandResult run_guarded(const GuardedCompiler& compiler, const std::vector<std::string>& command,
                          std::chrono::milliseconds limit, int cancel_fd);
/// The same, limited by what is left of processor time.
CommandResult run_guarded(const GuardedCompiler& compiler, const std::vector<std::string>& command,
                          CompileTime& time, int cancel_fd);

/// What a failed run says of the compiler instead of the source: compile_timeout,
/// compiler_out_of_memory, compiler_killed, compiler_crash. Nothing where its log is about the
/// source.
std::optional<CompileError> compiler_failure(const GuardedCompiler& compiler,
                                             const CommandResult& result,
                                             std::chrono::milliseconds limit);

}  // namespace kbench

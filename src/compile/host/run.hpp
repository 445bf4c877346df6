// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "compile/budget.hpp"
#include "compile/guard/guarded_compiler.hpp"
#include "compile/host/host_compile.hpp"
#include "compile/host/precompiled_header.hpp"
#include "compile/host/reading.hpp"
#include "compile/host/source.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// The compiles of one request: several may be tried within its time limit.
class HostRun {
 public:
  HostRun(const HostSetup& setup, const HostRequest& request, const HostFlags& flags, int cancel_fd,
          CompileTime& time);
  /// Compiles the units into one shared object, with the precompiled header.
  HostResult compile(const PrecompiledHeader& precompiled_header,
                     const std::vector<std::string>& units);
  /// True if the compiler refuses the precompiled header even for an empty unit, without the
  /// candidate's text.
  bool refuses(const PrecompiledHeader& precompiled_header) const;
  /// What kbench-cc read in the log of the last failed compile.
  const LogRead& said() const { return said_; }
  /// Wall time of the compilers so far.
  double seconds() const { return std::chrono::duration<double>(spent_).count(); }

 private:
  std::vector<std::string> command(const PrecompiledHeader& precompiled_header,
                                   const std::filesystem::path& folder, std::size_t units) const;
  GuardedCompiler guarded_by(const PrecompiledHeader& precompiled_header,
                             const std::filesystem::path& scratch) const;
  std::vector<std::string> libraries(const PrecompiledHeader& precompiled_header) const;
  HostResult module(const PrecompiledHeader& precompiled_header,
                    const std::filesystem::path& object, std::string log);
  Reader::Result<ObjectRead> read_object(const PrecompiledHeader& precompiled_header,
                                         const std::filesystem::path& object) const;
  CompileError failed(const GuardedCompiler& compiler, const CommandResult& result);
  CommandResult compile_empty(const PrecompiledHeader& precompiled_header) const;

  const HostSetup& setup_;
  const HostRequest& request_;
  const HostFlags& flags_;
  int cancel_fd_;
  CompileTime& time_;
  Reader reader_;
  LogRead said_;
  std::chrono::steady_clock::duration spent_{};
};

}  // namespace kbench

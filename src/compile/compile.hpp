// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kbench/plan.hpp"

namespace kbench {

class CompileBudget;

/// What to compile. Everything in it is part of the cache key but for the budget.
struct CompileRequest {
  std::string source;
  std::string file_name;                      ///< shown in diagnostics, not part of the key
  std::vector<std::string> flags;             ///< from the plan's allow-list
  std::vector<std::string> name_expressions;  ///< kernels to instantiate; "&name" for a variable
  bool find_parameters = true;                ///< KernelEntry::parameters are wanted
  std::string arch;                       ///< "sm_90a": cubin; "compute_90a": PTX that ptxas takes
  std::string language = "cuda";          ///< a row of the table in src/compile/languages.hpp
  std::shared_ptr<CompileBudget> budget;  ///< of all compiles of one candidate; null: none
};

/// What the compiler made of a source.
struct Artifact {
  std::string image;  ///< cubin or PTX text
  bool is_ptx = false;
  /// Of a cubin: its PTX with garbage in registers that a kernel may read before it writes to them,
  /// and with half of the warps late where it uses shared memory or barriers; empty where neither
  /// applies.
  std::string undefined_ptx;
  std::vector<KernelEntry> kernels;  ///< one per name expression
  std::string log;                   ///< warnings
  double seconds = 0;                ///< of the compiler, when it ran
  bool cached = false;
  std::string way = "nvrtc";
};

/// Why there is no artifact: the candidate's fault. Kept in the cache too, but for compile_timeout,
/// compiler_killed and compiler_fault, which may come from elsewhere.
struct CompileError {
  /// syntax_error, missing_include, illegal_include, unknown_kernel, undefined_function,
  /// too_much_shared_memory, ptxas_error, illegal_flag, compile_timeout, compiler_crash,
  /// compiler_out_of_memory, compiler_killed, compiler_fault, too_large
  std::string cause;
  std::string message;  ///< one sentence: the first error with its line
  std::string log;      ///< whole, up to 256 kB
  double seconds = 0;
  bool cached = false;
  double limit_s = 0;  ///< of a timeout: the processor time that there was
};

inline CompileError compile_error(std::string cause, std::string message, std::string log) {
  return {std::move(cause), std::move(message), std::move(log), 0, false, 0};
}

using CompileResult = std::variant<Artifact, CompileError>;

/// Where the pool finds its compiler and what it may use.
struct CompilerSetup {
  std::filesystem::path compiler;                   ///< kbench-cc
  std::filesystem::path nvrtc;                      ///< libnvrtc.so.13
  std::vector<std::filesystem::path> includes;      ///< CUDA's headers
  std::filesystem::path cache;                      ///< folder of the content cache; empty: none
  unsigned jobs = 2;                                ///< compilers at once
  std::chrono::milliseconds limit{30'000};          ///< processor time per source
  std::size_t memory_bytes = std::size_t{4} << 30;  ///< resident size of one compiler
};

/// Compiles over the cores, each source in a killable process, equal sources once.
class CompilePool {
 public:
  explicit CompilePool(CompilerSetup setup);
  ~CompilePool();  ///< kills what still runs
  /// Compiles or finds in the cache; a fault of the machine arrives as kbench::Error in the future.
  /// Candidates that wait, known by their budgets, are served in turn.
  std::shared_future<CompileResult> compile(CompileRequest request);
  /// Kills all compilers; futures not yet ready, and those asked for later, get a kbench::Error.
  void cancel();
  /// "NVRTC 13.0", asked of the compiler once. Throws kbench::Error where NVRTC cannot be loaded.
  const std::string& nvrtc_version() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

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

/// What to compile. The cache key covers all fields except `file_name` and `budget`.
struct CompileRequest {
  std::string source;
  std::string file_name;                      ///< shown in diagnostics
  std::vector<std::string> flags;             ///< the plan's; nvrtc_flags() allows them
  std::vector<std::string> name_expressions;  ///< kernels to instantiate; "&name" for a variable
  bool find_parameters = true;                ///< fill KernelEntry::parameters
  std::string arch;                       ///< "sm_90a": cubin; "compute_90a": PTX, checked by ptxas
  std::string language = "cuda";          ///< a row of the table in src/compile/languages.hpp
  std::shared_ptr<CompileBudget> budget;  ///< of the whole candidate; null: no limit
};

/// The result of a successful compile.
struct Artifact {
  std::string image;  ///< cubin or PTX text
  bool is_ptx = false;
  /// For a cubin: its PTX after with_undefined_shown(), which fills registers that may be read
  /// uninitialized, and delays warps that use shared memory or barriers. Empty if nothing is
  /// changed.
  std::string undefined_ptx;
  std::vector<KernelEntry> kernels;  ///< one per name expression
  std::string log;                   ///< warnings
  double seconds = 0;                ///< wall time of the compiler's run
  bool cached = false;
  std::string way = "nvrtc";
};

/// Why a candidate's source has no artifact. The cache keeps it, too, unless the machine may be the
/// cause: compile_timeout, compiler_killed and compiler_fault.
struct CompileError {
  /// syntax_error, missing_include, illegal_include, unknown_kernel, undefined_function,
  /// too_much_shared_memory, ptxas_error, illegal_flag, unreadable_parameters, compile_timeout,
  /// compiler_crash, compiler_out_of_memory, compiler_killed, compiler_fault, too_large
  std::string cause;
  std::string message;  ///< one sentence: the first error with its line
  std::string log;      ///< the compiler's, up to 256 kB
  double seconds = 0;
  bool cached = false;
  double limit_s = 0;  ///< of a timeout: the limit of processor time
};

inline CompileError compile_error(std::string cause, std::string message, std::string log = {}) {
  return {std::move(cause), std::move(message), std::move(log), 0, false, 0};
}

using CompileResult = std::variant<Artifact, CompileError>;

/// Paths and limits of a CompilePool.
struct CompilerSetup {
  std::filesystem::path compiler;                   ///< kbench-cc
  std::filesystem::path nvrtc;                      ///< libnvrtc.so.13
  std::vector<std::filesystem::path> includes;      ///< CUDA's headers
  std::filesystem::path cache;                      ///< folder of the content cache; empty: none
  unsigned jobs = 2;                                ///< compilers that run at once
  std::chrono::milliseconds limit{30'000};          ///< processor time per source
  std::size_t memory_bytes = std::size_t{4} << 30;  ///< resident size of one compiler
};

/// Compiles sources in parallel, each in a process that can be killed. Equal sources are compiled
/// once.
class CompilePool {
 public:
  explicit CompilePool(CompilerSetup setup);
  ~CompilePool();  ///< kills running compilers
  /// Compiles a source or finds it in the cache. The future throws kbench::Error for a fault of the
  /// machine. Waiting candidates (one per budget) are served in turn.
  std::shared_future<CompileResult> compile(CompileRequest request);
  /// Kills all compilers. Pending futures, and those of later calls, throw kbench::Error.
  void cancel();
  /// "NVRTC 13.0"; the compiler is asked once. Throws kbench::Error if NVRTC cannot be loaded.
  const std::string& nvrtc_version() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

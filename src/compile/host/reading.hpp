// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/budget.hpp"
#include "compile/compile.hpp"
#include "compile/diagnostics.hpp"
#include "compile/host/host_compile.hpp"

// kbench-cc reads a candidate's texts, a compiler's log of them, and the compiler's output. It is a
// confined process with limits, and can be killed. A text that keeps it busy or crashes it thus
// harms only its own candidate.
namespace kbench {

/// The texts of one extension, as the candidate gives them. Diagnostics use a text's name if the
/// text is not found in the candidate's file.
struct TextsJob {
  std::string file_name, file;  ///< the candidate's own
  std::vector<HostText> cpp, cuda;
  bool are_files = false;      ///< each text is its own translation unit
  bool needs_headers = false;  ///< no_implicit_headers: the texts must include torch's headers
  bool has_bindings = false;   ///< a PYBIND11_MODULE follows the cpp texts
  bool split = true;           ///< split the cuda texts
};

/// The same texts, ready to be compiled.
struct TextsRead {
  std::vector<HostText> cpp, cuda;   ///< with lines of the candidate's file, if found
  std::optional<Diagnosis> refusal;  ///< why they are refused; ignore the fields below
  std::string device;                ///< of all cuda texts
  std::vector<HostText> host;        ///< of each
  std::vector<std::string> kernels, variables, host_only;  ///< as in SplitSource
};

/// A shared object that a host compiler has made.
struct ObjectJob {
  std::filesystem::path object;
  std::vector<std::string> kernels, variables;  ///< as in HostRequest
  HostDevice device = HostDevice::kCuda;
  /// Libraries that may define the object's undefined symbols. Nullopt: not known yet.
  std::optional<std::vector<std::string>> libraries;
};

struct ObjectRead {
  std::vector<HostStub> stubs;
  std::vector<HostVariable> variables;
  std::optional<Diagnosis> refusal;
  bool needs_libraries = false;  ///< read again with ObjectJob::libraries
};

/// The log of a host compiler or nvcc.
struct LogJob {
  std::string log;
  std::vector<std::string> cpp_names, cuda_names;  ///< of the candidate's texts
  std::optional<std::vector<std::string>> functions;
  std::vector<std::filesystem::path> includes;  ///< torch's; empty: not for the CPU
};

struct LogRead {
  Diagnosis diagnosis;
  std::string unsupported;  ///< name that the CPU emulation lacks; may be empty
  bool may_need_heavy = false, speaks_of_precompiled_header = false;
};

/// Limit of processor time for one reading.
inline constexpr std::chrono::seconds kReadingLimit{20};

/// Starts kbench-cc for each job; its time counts as part of the job's compile. A reading that
/// fails is a CompileError (compile_timeout, compiler_out_of_memory, compiler_killed,
/// compiler_crash, compiler_fault). Throws kbench::Error for a fault of the machine, or if the run
/// is cancelled.
class Reader {
 public:
  template <typename Read>
  using Result = std::variant<Read, CompileError>;

  /// When `cancel_fd` becomes readable, running readings end.
  Reader(std::filesystem::path program, int cancel_fd)
      : program_(std::move(program)), cancel_fd_(cancel_fd) {}
  Result<TextsRead> read(const TextsJob& job, CompileTime& time) const;
  Result<ObjectRead> read(const ObjectJob& job, CompileTime& time) const;
  Result<LogRead> read(const LogJob& job, CompileTime& time) const;

 private:
  std::variant<std::string, CompileError> answer(const std::string& job, std::string_view what,
                                                 CompileTime& time) const;
  template <typename Read, typename Job>
  Result<Read> read_as(const Job& job, std::string_view what, CompileTime& time) const;

  std::filesystem::path program_;
  int cancel_fd_;
};

/// The job for the log of a host compile of `request`.
LogJob log_job(const std::string& log, const HostRequest& request,
               const std::vector<std::filesystem::path>& includes);

}  // namespace kbench

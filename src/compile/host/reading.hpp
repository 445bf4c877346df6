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

// A candidate's texts, what a compiler says of them and what it makes of them are read by
// kbench-cc: a process that is confined, bounded and can be killed. A text that keeps a reader
// busy, or breaks it, costs its candidate only.
namespace kbench {

/// The texts of one extension, as the candidate gives them. Their names are those that diagnostics
/// use where a text does not stand in the candidate's file.
struct TextsJob {
  std::string file_name, file;  ///< the candidate's own
  std::vector<HostText> cpp, cuda;
  bool are_files = false;      ///< each is a translation unit
  bool needs_headers = false;  ///< no_implicit_headers: they must include torch's
  bool has_bindings = false;   ///< a PYBIND11_MODULE is written behind the cpp texts
  bool split = true;           ///< the cuda texts are to be split
};

/// The same texts, ready to be compiled.
struct TextsRead {
  std::vector<HostText> cpp, cuda;   ///< with their lines where the candidate's file has them
  std::optional<Diagnosis> refusal;  ///< why they cannot be split; `split` is then empty
  std::string device;                ///< of all cuda texts
  std::vector<HostText> host;        ///< of each
  std::vector<std::string> kernels, variables, host_only;  ///< as in SplitSource
};

/// A shared object that a host compiler has made.
struct ObjectJob {
  std::filesystem::path object;
  std::vector<std::string> kernels, variables;  ///< as in HostRequest
  HostDevice device = HostDevice::kCuda;
  /// What the object's undefined symbols may come from; none: not known yet.
  std::optional<std::vector<std::string>> libraries;
};

struct ObjectRead {
  std::vector<HostStub> stubs;
  std::vector<HostVariable> variables;
  std::optional<Diagnosis> refusal;
  bool needs_libraries = false;  ///< nothing is decided before they are known
};

/// What a host compiler or nvcc said.
struct LogJob {
  std::string log;
  std::vector<std::string> cpp_names, cuda_names;  ///< of the candidate's texts
  std::optional<std::vector<std::string>> functions;
  std::vector<std::filesystem::path> includes;  ///< torch's; none: for no CPU
};

struct LogRead {
  Diagnosis diagnosis;
  std::string unsupported;  ///< on the CPU
  bool may_need_heavy = false, speaks_of_prelude = false;
};

/// Processor time of one reading.
inline constexpr std::chrono::seconds kReadingLimit{20};

/// Starts kbench-cc for each of them, in the time of the compile that it belongs to. A reading that
/// fails is a CompileError (compile_timeout, compiler_out_of_memory, compiler_killed,
/// compiler_crash, compiler_fault). A fault of the machine, or the end of the run, is thrown as
/// kbench::Error.
class Reader {
 public:
  template <typename Read>
  using Result = std::variant<Read, CompileError>;

  /// `cancel_fd` ends what runs as soon as it is readable.
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

/// The log of a host compile of `request`, for its device.
LogJob log_job(const std::string& log, const HostRequest& request,
               const std::vector<std::filesystem::path>& includes);

}  // namespace kbench

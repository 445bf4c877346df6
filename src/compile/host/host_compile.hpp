// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/compile.hpp"
#include "os/installation.hpp"

namespace kbench {

/// Where a host half will run: on the CPU it is compiled against counterparts of CUDA's runtime.
enum class HostDevice : std::uint8_t { kCuda, kCpu };

/// One text of a host half. `name` is what diagnostics call it, and what lines of errors count in.
struct HostText {
  std::string name, text;
};

/// One function that Python sees.
struct HostFunction {
  std::string name, docstring;
};

/// The host half of one extension, as torch's load_inline and load are given it. Everything in it
/// is part of the cache key but for the budget.
struct HostRequest {
  std::vector<HostText> cpp_sources;
  std::vector<HostText> cuda_sources;  ///< host texts made by split_source()
  /// Bound after the cpp_sources; none: the texts hold a PYBIND11_MODULE of their own.
  std::optional<std::vector<HostFunction>> functions;
  bool error_handling = true;                   ///< load_inline's with_pytorch_error_handling
  std::vector<std::string> flags;               ///< extra_cflags; -D, -I and -std count
  std::vector<std::filesystem::path> includes;  ///< extra_include_paths
  /// SplitKernel::name of all in cuda_sources; a name that several kernels have, several times.
  std::vector<std::string> kernels;
  std::vector<std::string> variables;  ///< SplitVariable::name
  HostDevice device = HostDevice::kCuda;
  std::shared_ptr<CompileBudget> budget;  ///< of all compiles of one candidate; null: none
};

/// The stub of one kernel, or of one instance of a template.
struct HostStub {
  std::uint64_t offset = 0, size = 0;  ///< of its code, from the object's load address
  std::string symbol;                  ///< mangled
  std::string kernel;                  ///< the name in HostRequest::kernels
  /// For NVRTC: "ns::k<float, 4>"; "(void(*)(float*))k" where several have the name. Empty where
  /// the instance has no name that NVRTC could find (a lambda among its template arguments).
  std::string expression;
};

/// The shadow of one variable of the device.
struct HostVariable {
  std::string name;
  std::uint64_t offset = 0, size = 0;
};

/// What the host compiler made.
struct HostModule {
  std::string object;  ///< a shared object; its module is called kHostModule
  std::vector<HostStub> stubs;
  std::vector<HostVariable> variables;
  /// What the object loads; a process in a cage has to be able to read and map these folders.
  std::vector<std::filesystem::path> library_folders;
  std::string log;
  double seconds = 0;  ///< of the compiler, when it ran
  bool cached = false;
  /// "clang++ 14.0.6"; with "heavy" where it took all of torch's headers.
  std::string way;
};

/// CompileError's causes here: syntax_error, missing_include, illegal_include, unknown_function (a
/// name in `functions` that no text declares), undefined_function, compile_timeout, compiler_crash,
/// compiler_out_of_memory, compiler_killed, and unsupported_on_cpu (a CUDA library's function
/// without a counterpart).
using HostResult = std::variant<HostModule, CompileError>;

/// The module's name, as in PyInit_….
inline constexpr const char* kHostModule = "kbench_extension";

/// What host halves are compiled with and against.
struct HostSetup {
  std::filesystem::path guard;    ///< kbench-cc, which limits a compiler
  std::filesystem::path headers;  ///< src/emulation
  std::string torch_version;
  bool torch_cxx11_abi = true;
  std::filesystem::path torch_lib;               ///< folder of libtorch
  std::vector<std::filesystem::path> includes;   ///< torch's, Python's and CUDA's
  std::vector<std::filesystem::path> libraries;  ///< folders of CUDA's shared libraries
  std::vector<std::filesystem::path> compilers;  ///< the first that works; empty: those on PATH
  std::filesystem::path cache;
  unsigned jobs = 2;                        ///< compilers at once
  std::chrono::milliseconds limit{60'000};  ///< processor time per host half, headers excluded
  std::size_t memory_bytes = std::size_t{4} << 30;
};

/// The set-up of this installation; `cache` is `installation.cache`'s.
HostSetup host_setup(const Installation& installation);

/// The precompiled header that most host halves of a device stand on, as the cache has it.
struct HostHeaders {
  bool built = false;
  std::uintmax_t bytes = 0;     ///< of its folder
  std::chrono::seconds age{0};  ///< since it was built
};

/// Compiles host halves over the cores, each in a killable process, equal ones once. The first
/// compile on a machine builds a precompiled header, which stays in the cache (clang 10 to 30 s,
/// GCC a minute; other processes wait for it).
class HostCompiler {
 public:
  explicit HostCompiler(HostSetup setup);
  ~HostCompiler();  ///< kills what still runs
  /// Compiles or finds in the cache; a fault of the machine arrives as kbench::Error in the future.
  std::shared_future<HostResult> compile(HostRequest request);
  /// Kills all compilers; futures not yet ready, and those asked for later, get a kbench::Error.
  void cancel();
  /// "clang++ 14.0.6". Throws kbench::Error where there is no compiler.
  std::string compiler_version();
  /// What the cache has for `device`. Throws kbench::Error where there is no compiler.
  HostHeaders headers(HostDevice device);
  /// Builds that precompiled header now, for `device`. Throws kbench::Error where that fails.
  void prepare(HostDevice device);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

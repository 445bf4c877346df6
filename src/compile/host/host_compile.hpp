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

/// The device that host code uses. Host code for the CPU is compiled against an emulation of CUDA's
/// runtime.
enum class HostDevice : std::uint8_t { kCuda, kCpu };

/// One text of host code. Diagnostics give `name` and a line of `text`.
struct HostText {
  std::string name, text;
};

/// One function that Python sees.
struct HostFunction {
  std::string name, docstring;
};

/// The host code of one extension, as passed to torch's load_inline or load. The cache key covers
/// all fields except `budget`.
struct HostRequest {
  std::vector<HostText> cpp_sources;
  std::vector<HostText> cuda_sources;  ///< host texts made by split_source()
  /// Functions to bind after the cpp_sources. Nullopt: the texts have their own PYBIND11_MODULE.
  std::optional<std::vector<HostFunction>> functions;
  bool error_handling = true;                   ///< load_inline's with_pytorch_error_handling
  std::vector<std::string> flags;               ///< extra_cflags; only -D, -U, -I and -std are used
  std::vector<std::filesystem::path> includes;  ///< extra_include_paths
  /// SplitKernel::name of all kernels in cuda_sources. A name that several kernels have is
  /// repeated.
  std::vector<std::string> kernels;
  std::vector<std::string> variables;  ///< SplitVariable::name
  HostDevice device = HostDevice::kCuda;
  std::shared_ptr<CompileBudget> budget;  ///< of the whole candidate; null: no limit
};

/// The host stub of one kernel, or of one instance of a template.
struct HostStub {
  std::uint64_t offset = 0, size = 0;  ///< of its code, from the object's load address
  std::string symbol;                  ///< mangled
  std::string kernel;                  ///< the name in HostRequest::kernels
  /// For NVRTC: "ns::k<float, 4>", or "(void(*)(float*))k" if several kernels have the name. Empty
  /// if the instance has no name that NVRTC can find, as with a lambda as template argument.
  std::string expression;
};

/// The host variable that stands for one device variable.
struct HostVariable {
  std::string name;
  std::uint64_t offset = 0, size = 0;
};

/// The result of a successful host compile.
struct HostModule {
  std::string object;  ///< a shared object; its module is called kHostModule
  std::vector<HostStub> stubs;
  std::vector<HostVariable> variables;
  /// Folders of the libraries that the object loads. A process in a sandbox must be able to read
  /// and map their files.
  std::vector<std::filesystem::path> library_folders;
  std::string log;
  double seconds = 0;  ///< wall time of the compiler's run
  bool cached = false;
  /// "clang++ 14.0.6"; with ", heavy" if it needed all of torch's headers.
  std::string way;
};

/// CompileError's causes here: syntax_error, missing_include, illegal_include, unknown_function (a
/// name in `functions` that no text declares), undefined_function, compile_timeout, compiler_crash,
/// compiler_out_of_memory, compiler_killed, compiler_fault, and unsupported_on_cpu (a CUDA
/// library's function that the CPU emulation lacks).
using HostResult = std::variant<HostModule, CompileError>;

/// The module's name, as in PyInit_….
inline constexpr const char* kHostModule = "kbench_extension";

/// Compilers, headers, libraries and limits of host compiles.
struct HostSetup {
  std::filesystem::path guard;    ///< kbench-cc, which limits a compiler
  std::filesystem::path headers;  ///< src/emulation
  std::string torch_version;
  bool torch_cxx11_abi = true;
  std::filesystem::path torch_lib;               ///< folder of libtorch
  std::vector<std::filesystem::path> includes;   ///< torch's, Python's and CUDA's
  std::vector<std::filesystem::path> libraries;  ///< folders of CUDA's shared libraries
  std::vector<std::filesystem::path> compilers;  ///< the first that works; empty: from PATH
  std::filesystem::path cache;
  unsigned jobs = 2;                        ///< compilers that run at once
  std::chrono::milliseconds limit{60'000};  ///< processor time per request, headers excluded
  std::size_t memory_bytes = std::size_t{4} << 30;
};

/// The set-up of this installation, with its cache.
HostSetup host_setup(const Installation& installation);

/// The cached precompiled header that most host code for a device uses.
struct HostHeaders {
  bool built = false;
  std::uintmax_t bytes = 0;     ///< of its folder
  std::chrono::seconds age{0};  ///< since it was built
};

/// Compiles host code in parallel, each request in a process that can be killed. Equal requests are
/// compiled once. The first compile on a machine builds a precompiled header, which stays in the
/// cache (clang 10 to 30 s, GCC a minute). Other processes wait for it.
class HostCompiler {
 public:
  explicit HostCompiler(HostSetup setup);
  ~HostCompiler();  ///< kills running compilers
  /// Compiles a request or finds it in the cache. The future throws kbench::Error for a fault of
  /// the machine.
  std::shared_future<HostResult> compile(HostRequest request);
  /// Kills all compilers. Pending futures, and those of later calls, throw kbench::Error.
  void cancel();
  /// "clang++ 14.0.6". Throws kbench::Error if there is no compiler.
  std::string compiler_version();
  /// What the cache has for `device`. Throws kbench::Error if there is no compiler.
  HostHeaders headers(HostDevice device);
  /// Builds that precompiled header for `device` if necessary. Throws kbench::Error if that fails.
  void prepare(HostDevice device);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

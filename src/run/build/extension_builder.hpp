// SPDX-License-Identifier: MIT
#pragma once

#include <sys/eventfd.h>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <semaphore>
#include <string>
#include <variant>
#include <vector>

#include "compile/compile.hpp"
#include "compile/host/host_compile.hpp"
#include "compile/nvcc/nvcc.hpp"
#include "kbench/record.hpp"
#include "os/subprocess.hpp"
#include "run/build/extension_request.hpp"
#include "run/build/nvcc_fallback.hpp"
#include "run/build/stored_bytes.hpp"

namespace kbench::run {

/// A built extension: its host code and device code.
struct Extension {
  struct Kernel {
    std::uint64_t offset = 0;  ///< of its host stub in the shared object
    std::string symbol, name;  ///< names in the image, and for people
  };
  struct Variable {
    std::uint64_t offset = 0, bytes = 0;  ///< of its host copy in the shared object
    std::string symbol;
  };
  std::string object;  ///< a shared object; empty for a kernel without host code
  std::string image;   ///< cubin or PTX
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
  bool whole = false;            ///< built by nvcc: the object contains and launches its kernels
  double seconds = 0;            ///< time of the compilers when they ran
  std::optional<double> host_s;  ///< part of it for host code
  bool cached = false;
  std::string way;             ///< "nvrtc + clang++ 14.0.6", "nvcc 13.0.88 + g++ 12.2.0"
  std::string fallback;        ///< why nvcc was used; else empty
  bool reads_machine = false;  ///< see reads_machine()
  /// Files with the object and the image of a stored result. `object` and `image` are empty then;
  /// with_bytes() fills them.
  StoredBytes stored_object{}, stored_image{};
};

/// Loads object and image of a stored extension. Throws kbench::Error.
Extension with_bytes(Extension extension);

/// Why there is no extension, if it is the candidate's fault.
struct ExtensionError {
  Outcome outcome = Outcome::kCompileFailure;
  std::string cause, message, log;
  double seconds = 0;
  bool cached = false;
  std::optional<double> host_s{};
  std::string way{}, fallback{};  ///< of nvcc, if it was used
};

using ExtensionResult = std::variant<Extension, ExtensionError>;

/// Default CPU time of all compilers of a candidate.
inline constexpr std::chrono::milliseconds kCompileBudget{360'000};

/// Builds the extensions that module_extension.py requests. Splits sources into device code and
/// host code and compiles both in parallel. Uses nvcc for sources that cannot be split
/// (nvcc_fallback.hpp). Keeps the results. Thread-safe.
class ExtensionBuilder {
 public:
  /// The most bytes of objects and images for one candidate.
  static constexpr std::size_t kMostBuiltBytes = std::size_t{1} << 30;
  /// `arch` as in CompileRequest. The host compiler is made at first use. `budget`: CPU time for
  /// all builds of one owner; after that, builds fail with compile_timeout. `most_built_bytes`:
  /// limit for all results of one candidate.
  ExtensionBuilder(CompilePool& pool, HostSetup setup, NvccSetup nvcc, std::string arch,
                   std::chrono::milliseconds budget = kCompileBudget,
                   std::size_t most_built_bytes = kMostBuiltBytes);
  ~ExtensionBuilder();

  /// Starts a build, or returns the earlier one of the same request. A malformed request is an
  /// ExtensionError, because a candidate may send any JSON. The future throws kbench::Error for a
  /// fault of the machine.
  std::shared_future<ExtensionResult> build(const nlohmann::json& request,
                                            const ExtensionOwner& owner);
  /// Cancels all builds.
  void cancel();

 private:
  ExtensionResult build_now(const nlohmann::json& request, const ExtensionOwner& owner);
  ExtensionResult build_kernel(const nlohmann::json& request, const ExtensionOwner& owner);
  ExtensionResult build_split(const nlohmann::json& request, const ExtensionOwner& owner);
  Reader::Result<TextsRead> read(const TextsJob& job, CompileBudget* budget);
  ExtensionResult try_split(const nlohmann::json& request, const ExtensionOwner& owner,
                            const TextsRead& sources, SplitFailure& failure);
  ExtensionResult fall_back(const nlohmann::json& request, const ExtensionOwner& owner,
                            const TextsRead& texts, const ExtensionError& error,
                            const FallbackRule& rule);
  ExtensionResult build_whole(const nlohmann::json& request, const ExtensionOwner& owner,
                              const TextsRead& texts, const ExtensionError& error);
  std::shared_ptr<CompileBudget> budget_of(const ExtensionOwner& owner);
  std::vector<std::filesystem::path> header_folders();
  bool is_on_cpu() const { return arch_.starts_with("compute_"); }
  HostCompiler& host();
  /// Moves the bytes of a result into files; an error if its candidate has built too many.
  ExtensionResult stored(ExtensionResult result, const std::string& candidate);

  CompilePool& pool_;
  HostSetup setup_;
  NvccCompiler nvcc_;
  std::string arch_;
  std::chrono::milliseconds budget_;
  std::size_t most_built_bytes_;
  Fd cancel_event_{eventfd(0, EFD_CLOEXEC)};
  std::counting_semaphore<> readers_;
  std::mutex mutex_;
  std::unique_ptr<HostCompiler> host_;
  std::map<std::string, std::shared_future<ExtensionResult>> known_;  ///< by hash of the request
  std::map<std::string, std::size_t> built_bytes_;                    ///< by hash of the candidate
  std::map<std::string, std::shared_ptr<CompileBudget>> budgets_;     ///< by hash of the owner
};

}  // namespace kbench::run

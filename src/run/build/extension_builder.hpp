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

/// Both halves of an extension.
struct Extension {
  struct Kernel {
    std::uint64_t offset = 0;  ///< of its stub in the shared object
    std::string symbol, name;  ///< in the image, and for people
  };
  struct Variable {
    std::uint64_t offset = 0, bytes = 0;  ///< of its shadow in the shared object
    std::string symbol;
  };
  std::string object;  ///< a shared object; empty for a kernel without host code
  std::string image;   ///< cubin or PTX
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
  bool whole =
      false;  ///< nvcc's: the kernels are in the object, and nothing has to be launched for it
  double seconds = 0;            ///< of the compilers, when they ran
  std::optional<double> host_s;  ///< of these, of the host half's
  bool cached = false;
  std::string way;             ///< "nvrtc + clang++ 14.0.6", "nvcc 13.0.88 + g++ 12.2.0"
  std::string fallback;        ///< why it was nvcc; else empty
  bool reads_machine = false;  ///< its PTX reads what the executor differs in from a GPU
  /// Object and image of one that is kept: there the two above are empty; see with_bytes().
  StoredBytes stored_object{}, stored_image{};
};

/// The same with object and image, if it is one that is kept. Throws kbench::Error.
Extension with_bytes(Extension extension);

/// Why there is no extension: the candidate's fault.
struct ExtensionError {
  Outcome outcome = Outcome::kCompileFailure;
  std::string cause, message, log;
  double seconds = 0;
  bool cached = false;
  std::optional<double> host_s{};
  std::string way{}, fallback{};  ///< of nvcc, where it was asked
};

using ExtensionResult = std::variant<Extension, ExtensionError>;

/// Processor time of all compilers of a candidate, where nothing else is said.
inline constexpr std::chrono::milliseconds kCompileBudget{360'000};

/// Builds what module_extension.py asks for: splits, compiles both halves over the cores, has nvcc
/// compile what the split cannot take (nvcc_fallback.hpp), and keeps the answers. Thread-safe.
class ExtensionBuilder {
 public:
  /// Bytes of objects and images that one candidate may have built, in all.
  static constexpr std::size_t kMostBuiltBytes = std::size_t{1} << 30;
  /// `arch` as in CompileRequest. The host compiler is made when it is first needed. `budget` is
  /// what all builds of one owner may take: what is left to build when it is spent is
  /// compile_timeout. All that one candidate has built may take `most_built_bytes`.
  ExtensionBuilder(CompilePool& pool, HostSetup setup, NvccSetup nvcc, std::string arch,
                   std::chrono::milliseconds budget = kCompileBudget,
                   std::size_t most_built_bytes = kMostBuiltBytes);
  ~ExtensionBuilder();

  /// Starts building, unless it has been asked for before. A request that is none of ours (any JSON
  /// may come from a candidate) is an ExtensionError; a fault of the machine arrives as
  /// kbench::Error in the future.
  std::shared_future<ExtensionResult> build(const nlohmann::json& request,
                                            const ExtensionOwner& owner);
  /// Ends all that is under way.
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
  /// Puts the bytes of a result into files; an error where its candidate has built too many.
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

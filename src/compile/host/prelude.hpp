// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compile/host/compilers.hpp"
#include "compile/host/host_compile.hpp"

namespace kbench {

/// How much of torch/extension.h: its common part, or all of it.
enum class HeaderSet : std::uint8_t { kUsual, kHeavy };

/// Which headers a host half stands on.
struct PreludeKind {
  HostDevice device = HostDevice::kCuda;
  HeaderSet headers = HeaderSet::kUsual;
  std::string standard = "c++17";  ///< of C++
  auto operator<=>(const PreludeKind&) const = default;
};

/// Everything that is made once for a kind, in a folder of the cache.
struct Prelude {
  std::filesystem::path folder;
  FoundCompiler compiler;
  PreludeKind kind;
  std::vector<std::string> compile_options;  ///< with the precompiled header and all include paths
  std::vector<std::string> link_options;     ///< after the sources
};

/// Builds preludes, and finds those of earlier runs: a precompiled header of torch's and CUDA's
/// headers, and a shared library with the code of their inline functions and template instances, so
/// that a candidate neither parses nor compiles any of it (clang's -fpch-codegen; GCC has no such
/// thing and compiles it each time).
class Preludes {
 public:
  /// `cancel_fd` becomes readable when no more is to be built.
  Preludes(HostSetup setup, int cancel_fd);
  /// The prelude of that kind, built if need be under a lock that other processes respect. Throws
  /// kbench::Error where that fails or was cancelled.
  Prelude ready(const PreludeKind& kind);
  /// Has a prelude built anew that the compiler does not take any more.
  void drop(const Prelude& prelude);
  /// Its folder, whether it is built or not; the name stands for all that decides what a compile
  /// on top of it gives, but the candidate's text.
  std::filesystem::path folder(const PreludeKind& kind);
  /// What there is of it already.
  HostHeaders state(const PreludeKind& kind);
  /// The compiler of all preludes. Throws kbench::Error where this machine has none.
  const FoundCompiler& compiler();

 private:
  const Prelude& known(const PreludeKind& kind);
  void build(const Prelude& prelude);

  HostSetup setup_;
  int cancel_fd_;
  std::mutex mutex_;  ///< of what is known
  std::optional<FoundCompiler> compiler_;
  std::map<PreludeKind, Prelude> known_;
  std::mutex build_mutex_;
};

}  // namespace kbench

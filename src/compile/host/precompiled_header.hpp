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

/// The part of torch/extension.h to precompile: its common part, or all of it.
enum class HeaderSet : std::uint8_t { kUsual, kHeavy };

/// The kind of precompiled header that host code uses.
struct PrecompiledHeaderKind {
  HostDevice device = HostDevice::kCuda;
  HeaderSet headers = HeaderSet::kUsual;
  std::string standard = "c++17";  ///< C++ standard
  auto operator<=>(const PrecompiledHeaderKind&) const = default;
};

/// A precompiled header and its libraries, made once per kind in a folder of the cache.
struct PrecompiledHeader {
  std::filesystem::path folder;
  FoundCompiler compiler;
  PrecompiledHeaderKind kind;
  std::vector<std::string> compile_options;  ///< with the precompiled header and all include paths
  std::vector<std::string> link_options;     ///< after the sources
};

/// Builds precompiled headers of torch and CUDA, and finds those of earlier runs. With clang, a
/// shared library holds the code of their inline functions and template instances (-fpch-codegen),
/// so a candidate neither parses nor compiles them. GCC lacks such an option, so each candidate
/// compiles them.
class PrecompiledHeaders {
 public:
  /// `cancel_fd` becomes readable to cancel all builds.
  PrecompiledHeaders(HostSetup setup, int cancel_fd);
  /// The precompiled header of that kind; builds it if necessary, under a lock that other processes
  /// respect. Throws kbench::Error if that fails or is cancelled.
  PrecompiledHeader ready(const PrecompiledHeaderKind& kind);
  /// Makes the next ready() rebuild a precompiled header that the compiler refuses.
  void drop(const PrecompiledHeader& precompiled_header);
  /// The precompiled header's folder, built or not. Its name is a hash of all that affects a
  /// compile with it, except the candidate's text.
  std::filesystem::path folder(const PrecompiledHeaderKind& kind);
  /// The precompiled header's state in the cache.
  HostHeaders state(const PrecompiledHeaderKind& kind);
  /// The compiler of all precompiled headers. Throws kbench::Error if this machine has none.
  const FoundCompiler& compiler();

 private:
  const PrecompiledHeader& known(const PrecompiledHeaderKind& kind);
  void build(const PrecompiledHeader& precompiled_header);

  HostSetup setup_;
  int cancel_fd_;
  std::mutex mutex_;  ///< of compiler_ and known_
  std::optional<FoundCompiler> compiler_;
  std::map<PrecompiledHeaderKind, PrecompiledHeader> known_;
  std::mutex build_mutex_;
};

}  // namespace kbench

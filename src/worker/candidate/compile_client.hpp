// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "protocol/protocol.hpp"
#include "worker/candidate/extension_runtime.hpp"

namespace kbench::worker {

/// An extension as the driver has built it.
struct BuiltExtension {
  Fd shared_object;  ///< a sealed memfd
  /// nvcc's: a plain extension module, which brings its kernels and launches them by itself.
  bool whole = false;
  DeviceCode device;
};

/// Why there is none: said to the candidate as its compiler's message would be.
struct BuildFailure {
  Outcome outcome = Outcome::kCompileFailure;
  std::string cause, message, log;
};

/// A candidate's way to the driver's compilers.
class CompileClient {
 public:
  CompileClient(Fd channel, std::uint64_t nonce);
  /// Asks for an extension and waits. Throws CandidateFailure where the driver is gone.
  std::variant<BuiltExtension, BuildFailure> build(const nlohmann::json& request);
  /// Asks and does not wait: for a dry import.
  void order(const nlohmann::json& request);
  /// Says how a dry import's import ended.
  void dry_imported(const nlohmann::json& how);

 private:
  protocol::Channel channel_;
};

}  // namespace kbench::worker

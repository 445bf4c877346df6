// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "protocol/protocol.hpp"
#include "worker/candidate/extension_runtime.hpp"

namespace kbench::worker {

/// An extension that the driver has built.
struct BuiltExtension {
  Fd shared_object;  ///< a sealed memfd
  /// Built by nvcc: a plain extension module, which contains its kernels and launches them itself.
  bool whole = false;
  DeviceCode device;
};

/// Why a build failed. The candidate's code gets it like the message of a compiler.
struct BuildFailure {
  Outcome outcome = Outcome::kCompileFailure;
  std::string cause, message, log;
};

/// Sends a candidate's requests to compile to the driver.
class CompileClient {
 public:
  CompileClient(Fd channel, std::uint64_t nonce);
  /// Requests an extension and waits for it. Throws CandidateFailure if the driver does not answer,
  /// or as order().
  std::variant<BuiltExtension, BuildFailure> build(const nlohmann::json& request);
  /// Requests an extension without a wait, for a dry import. Throws CandidateFailure if the request
  /// is too large.
  void order(const nlohmann::json& request);
  /// Reports how a dry import ended.
  void dry_imported(const nlohmann::json& how);

 private:
  protocol::Channel channel_;
};

}  // namespace kbench::worker

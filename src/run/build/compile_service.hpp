// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "protocol/protocol.hpp"
#include "run/build/candidate_messages.hpp"
#include "run/build/extension_builder.hpp"

namespace kbench::run {

/// Cost and result of one candidate's builds, with the first failure.
struct BuildSummary {
  std::size_t builds = 0;
  double seconds = 0;
  std::optional<double> host_s;  ///< part of it for host code; none: there was none
  bool cached = true;
  bool reads_machine = false;  ///< true if Extension::reads_machine is, of any
  std::string way, fallback, log;
  std::optional<ExtensionError> failure;
  std::vector<std::string> ignored_flags;  ///< flags for nvcc that NVRTC does not know
};

/// Answers one process's requests to build extensions, in a thread of its own.
class CompileService {
 public:
  /// `answers`: sends the extension for each request. If false, requests only start builds, as in a
  /// dry import.
  CompileService(ExtensionBuilder& builder, ExtensionOwner owner, Fd channel, std::uint64_t nonce,
                 bool answers);
  ~CompileService();  ///< ends the thread, not its builds

  /// Waits until the process reports the end of its import, or ends. False if it does not within
  /// `limit`.
  bool wait_dry_imported(std::chrono::milliseconds limit, int cancel_fd);
  /// Waits for the builds requested so far and sums them up.
  BuildSummary summary();
  /// The report of a dry import at its end, if there is one.
  std::optional<DryImportEnd> dry_import_end();
  /// A fault of the machine in a build, if any.
  std::exception_ptr fault();

 private:
  void serve();
  void answer(const ExtensionResult& result);
  /// Starts the build of a message's request. Nothing if the process exceeds its limits.
  std::optional<std::shared_future<ExtensionResult>> order(const std::string& body);

  ExtensionBuilder& builder_;
  ExtensionOwner owner_;
  bool answers_;
  protocol::Channel channel_;
  Fd stop_read_, stop_write_;
  Fd ended_;  ///< an eventfd: the thread has ended
  std::mutex mutex_;
  std::vector<std::shared_future<ExtensionResult>> ordered_;
  std::size_t ordered_bytes_ = 0;
  std::vector<std::string> ignored_flags_;
  std::exception_ptr fault_;
  std::optional<DryImportEnd> dry_import_end_;
  std::thread thread_;
};

}  // namespace kbench::run

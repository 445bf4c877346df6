// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "protocol/protocol.hpp"
#include "run/build/candidate_messages.hpp"
#include "run/build/extension_builder.hpp"

namespace kbench::run {

/// What the builds of one candidate took, and the first that failed.
struct BuildSummary {
  std::size_t builds = 0;
  double seconds = 0;
  std::optional<double> host_s;  ///< of these, those of host halves; none: there was none
  bool cached = true;
  bool reads_machine = false;  ///< Extension::reads_machine of one of them
  std::string way, fallback, log;
  std::optional<ExtensionError> failure;
  std::vector<std::string> ignored_flags;  ///< flags for nvcc that mean nothing here
};

/// Answers one process's requests to build extensions, in a thread of its own.
class CompileService {
 public:
  /// `answers`: each request gets its extension; else they are only ordered, as a scout does.
  CompileService(ExtensionBuilder& builder, ExtensionOwner owner, Fd channel, std::uint64_t nonce,
                 bool answers);
  ~CompileService();  ///< ends the thread; builds go on

  /// Waits until the process has said that its import has ended, or is gone; false at the limit.
  bool wait_scouted(std::chrono::milliseconds limit, int cancel_fd);
  /// What has been built for this process so far, waiting for what is under way.
  BuildSummary summary();
  /// What a scout said at its end; nothing where it has said nothing.
  std::optional<ScoutEnd> scout_end();
  /// A fault of the machine that a build met, if any.
  std::exception_ptr fault();

 private:
  void serve();
  void answer(const ExtensionResult& result);
  /// Starts building what a message asks for; null where it is too much for one process.
  std::optional<std::shared_future<ExtensionResult>> order(const std::string& body);

  ExtensionBuilder& builder_;
  ExtensionOwner owner_;
  bool answers_;
  protocol::Channel channel_;
  Fd stop_read_, stop_write_;
  Fd ended_;  ///< an eventfd: the thread is over
  std::mutex mutex_;
  std::vector<std::shared_future<ExtensionResult>> ordered_;
  std::size_t ordered_bytes_ = 0;
  std::vector<std::string> ignored_flags_;
  std::exception_ptr fault_;
  std::optional<ScoutEnd> scout_end_;
  std::thread thread_;
};

}  // namespace kbench::run

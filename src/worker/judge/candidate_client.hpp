// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kbench/candidate.hpp"
#include "protocol/protocol.hpp"

namespace kbench::worker {

/// The protocol with one candidate's process: requests, answers within a limit, and stopping the
/// process. Each violation of the protocol is a CandidateFailure.
class CandidateClient {
 public:
  /// `pid`: the leader of the process's group; 0: it is never stopped. `on_findings`: gets the
  /// FindingBodies of a failure's report before the failure is thrown.
  CandidateClient(protocol::Channel channel, CandidateKind kind, pid_t pid,
                  std::function<void(std::string_view)> on_findings);
  CandidateClient(const CandidateClient&) = delete;
  CandidateClient& operator=(const CandidateClient&) = delete;
  ~CandidateClient();

  void send(protocol::MessageType type, std::string_view body, const std::vector<int>& fds = {});
  /// The next message, which must be of this type. Throws CandidateFailure if there is none after
  /// `limit_s`, if it reports a failure, or if it is of another type. `during`: what the process
  /// does meanwhile, for messages ("loading").
  protocol::Message receive(protocol::MessageType type, double limit_s, std::string_view during);
  /// The same, but nothing if there is no message after `limit_s`.
  std::optional<protocol::Message> receive_in_time(protocol::MessageType type, double limit_s,
                                                   std::string_view during);

  /// Stops the process's group (SIGSTOP). If it runs code of a candidate on the host, waits until
  /// no thread runs.
  void stop();
  void resume();
  bool is_stopped() const { return is_stopped_; }
  /// Throws CandidateFailure if the process has run while it was stopped.
  void refuse_running_stopped() const;

  /// During its lifetime the process runs. Afterwards it is as before.
  class Running {
   public:
    explicit Running(CandidateClient& client) : client_(client), was_stopped_(client.is_stopped()) {
      client_.resume();
    }
    ~Running() {
      if (was_stopped_) client_.stop();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    CandidateClient& client_;
    bool was_stopped_;
  };

 private:
  protocol::Message checked(protocol::ReceiveStatus status, protocol::Message message,
                            protocol::MessageType type, double limit_s, std::string_view during);
  void expect_end();

  protocol::Channel channel_;
  CandidateKind kind_;
  pid_t pid_;
  std::function<void(std::string_view)> on_findings_;
  bool is_stopped_ = false;
  std::optional<double> stopped_at_s_;  ///< its processor time when it was stopped
  double ran_stopped_s_ = 0;            ///< processor time that it used while stopped, in total
};

}  // namespace kbench::worker

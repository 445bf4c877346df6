// SPDX-License-Identifier: MIT
#include "worker/judge/candidate_client.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "worker/device/device.hpp"
#include "worker/device/host_tasks.hpp"

namespace kbench::worker {
namespace {

using protocol::MessageType;
using protocol::ReceiveStatus;

constexpr std::chrono::seconds kEndLimit{10};  // for a process to end after it has reported why
/// The limit of a stopped process's processor time, in total.
constexpr double kStillStopped_s = 0.001;
/// A process that does not stop may use this much processor time while the judge waits for it to
/// stop.
constexpr double kMostStopping_s = 0.01;

CandidateFailure broken_protocol(std::string message) {
  return {Outcome::kCrash, "protocol", "the candidate's process " + std::move(message)};
}

CandidateFailure claimed_failure(std::string_view body) {
  auto claim = protocol::claimed_failure(body);
  return {claim.outcome, std::move(claim.cause), std::move(claim.message)};
}

protocol::Clock::time_point in_seconds(double limit_s) {
  return protocol::Clock::now() +
         std::chrono::microseconds(static_cast<long long>(limit_s * 1'000'000));
}

}  // namespace

CandidateClient::CandidateClient(protocol::Channel channel, CandidateKind kind, pid_t pid,
                                 std::function<void(std::string_view)> on_findings)
    : channel_(std::move(channel)), kind_(kind), pid_(pid), on_findings_(std::move(on_findings)) {}

CandidateClient::~CandidateClient() { resume(); }

void CandidateClient::send(MessageType type, std::string_view body, const std::vector<int>& fds) {
  // If the process has ended, the wait for its answer says so.
  channel_.send(type, body, fds);
}

protocol::Message CandidateClient::receive(MessageType type, double limit_s,
                                           std::string_view during) {
  protocol::Message message;
  const auto status = channel_.receive(message, in_seconds(limit_s));
  return checked(status, std::move(message), type, limit_s, during);
}

std::optional<protocol::Message> CandidateClient::receive_in_time(MessageType type, double limit_s,
                                                                  std::string_view during) {
  protocol::Message message;
  const auto status = channel_.receive(message, in_seconds(limit_s));
  if (status == ReceiveStatus::kTimeout) return std::nullopt;
  return checked(status, std::move(message), type, limit_s, during);
}

protocol::Message CandidateClient::checked(ReceiveStatus status, protocol::Message message,
                                           MessageType type, double limit_s,
                                           std::string_view during) {
  if (status == ReceiveStatus::kTimeout)
    throw CandidateFailure{Outcome::kTimeout,
                           during == "loading" ? "loading_limit" : "execution_limit",
                           fmt::format("{} took longer than {:.3g} s", during, limit_s)};
  if (status == ReceiveStatus::kMalformed)
    throw broken_protocol("sent a message that is not kbench's");
  if (status != ReceiveStatus::kOk)
    throw CandidateFailure{Outcome::kCrash, "process_died",
                           fmt::format("the candidate's process died while {}", during)};
  if (message.type == MessageType::kFailed) {
    if (message.body.size() > sizeof(protocol::FailedBody))
      on_findings_(std::string_view(message.body).substr(sizeof(protocol::FailedBody)));
    const CandidateFailure claim = claimed_failure(message.body);
    if (kind_ != CandidateKind::kKernel && claim.outcome == Outcome::kUnsupported) expect_end();
    throw claim;
  }
  if (message.type != type) throw broken_protocol("sent an unexpected message");
  return message;
}

/// Throws unless the process ends. The report of a failure is the last message of a process. A
/// module that has written such a message itself would send more, or would not end.
void CandidateClient::expect_end() {
  protocol::Message more;
  if (channel_.receive(more, protocol::Clock::now() + kEndLimit) != ReceiveStatus::kClosed)
    throw broken_protocol("reported that it cannot run here, but did not end");
}

void CandidateClient::stop() {
  if (is_stopped_ || pid_ <= 0) return;
  is_stopped_ = true;
  kill(-pid_, SIGSTOP);
  if (kind_ == CandidateKind::kKernel) return;
  const Stopped stopped = wait_until_stopped(pid_);
  stopped_at_s_ = stopped.processor_s;
  if (stopped.went_on_s > kMostStopping_s) ran_stopped_s_ += stopped.went_on_s;
}

void CandidateClient::resume() {
  if (!is_stopped_) return;
  is_stopped_ = false;
  if (stopped_at_s_) {
    ran_stopped_s_ += std::max(processor_s(pid_).value_or(0) - *stopped_at_s_, 0.0);
    stopped_at_s_.reset();
  }
  kill(-pid_, SIGCONT);
}

void CandidateClient::refuse_running_stopped() const {
  if (ran_stopped_s_ < kStillStopped_s) return;
  throw CandidateFailure{Outcome::kCheat, "ran_while_stopped",
                         "the candidate's process ran while kbench had stopped it: its own code "
                         "must have continued it"};
}

}  // namespace kbench::worker

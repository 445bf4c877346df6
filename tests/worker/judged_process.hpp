// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/protocol.hpp"
#include "worker/candidate/candidate.hpp"
#include "worker/device/device.hpp"

namespace kbench::worker {

using protocol::BufferRole;
using protocol::Message;
using protocol::MessageType;
using protocol::ReceiveStatus;

/// A struct as bytes of a message.
template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The process of one candidate, and the judge's side of its buffers. Tensors have floats, by
/// default six.
class JudgedProcess {
 public:
  explicit JudgedProcess(const Fd& job, std::uint64_t nonce) {
    auto [ours, theirs] = socket_pair();
    pid_ = fork();
    if (pid_ == 0) {
      ours.reset();
      setpgid(0, 0);
      int code = 9;
      try {
        code = candidate_main(std::move(theirs), Fd(dup(job.value())), Fd(), nullptr);
      } catch (const std::exception&) {
        code = 8;
      }
      _exit(code);
    }
    channel_ = protocol::Channel(std::move(ours), nonce, protocol::kMaxCandidateBody);
  }
  JudgedProcess(const JudgedProcess&) = delete;
  JudgedProcess& operator=(const JudgedProcess&) = delete;
  ~JudgedProcess() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  void hang_up() { channel_ = {}; }
  bool send(MessageType type, std::string_view body = {}, const std::vector<int>& fds = {}) {
    return channel_.send(type, body, fds);
  }
  ReceiveStatus receive(Message& message,
                        std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    return channel_.receive(message, protocol::Clock::now() + limit);
  }
  /// The body of the next message, which must have this type.
  std::string expect(MessageType type) {
    Message message;
    EXPECT_EQ(receive(message), ReceiveStatus::kOk);
    EXPECT_EQ(static_cast<int>(message.type), static_cast<int>(type))
        << (message.type == MessageType::kFailed ? message.body.substr(4) : "");
    EXPECT_LE(message.body.size(), protocol::kMaxCandidateBody);
    return message.body;
  }
  /// The failure in the next message, after which the process must end.
  protocol::FailedBody expect_failure() {
    protocol::FailedBody failed{};
    const std::string body = expect(MessageType::kFailed);
    EXPECT_EQ(body.size() % sizeof(protocol::FindingBody),
              sizeof failed % sizeof(protocol::FindingBody));
    findings_ = body.substr(std::min(body.size(), sizeof failed));
    std::memcpy(&failed, body.data(), std::min(body.size(), sizeof failed));
    Message message;
    EXPECT_EQ(receive(message), ReceiveStatus::kClosed);
    EXPECT_EQ(exit_code(), 1);
    return failed;
  }
  /// The findings in the message of that failure.
  std::vector<protocol::FindingBody> findings() const { return bodies_of(findings_); }
  static std::vector<protocol::FindingBody> bodies_of(std::string_view bytes) {
    std::vector<protocol::FindingBody> bodies(bytes.size() / sizeof(protocol::FindingBody));
    std::memcpy(static_cast<void*>(bodies.data()), bytes.data(),
                bodies.size() * sizeof(protocol::FindingBody));
    return bodies;
  }
  /// Waits until the process ends. Returns the exit code, or minus the signal.
  int exit_code() {
    int status = 0;
    if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) return 99;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// Creates a buffer for tensor `index` of a set. The next map() sends it.
  void add(std::uint32_t set, std::uint32_t index, BufferRole role,
           const std::vector<float>& values = std::vector<float>(6, 0)) {
    auto buffer = device_->create(
        buffer_layout(values.size() * sizeof(float), device_->granularity(), true), true);
    std::memcpy(buffer.data(), values.data(), values.size() * sizeof(float));
    fill_red_zones(*device_, buffer);
    const auto& at = buffer.layout();
    entries_ += bytes_of(protocol::BufferEntry{
        set, index, static_cast<std::uint32_t>(role), role == BufferRole::kWork ? 1u : 0u,
        at.mapped_bytes, at.data_offset, at.data_bytes, at.red_before, at.red_after,
        static_cast<std::uint32_t>(fds_.size())});
    fds_.push_back(buffer.fd());
    buffers_[{set, index, role}] = std::move(buffer);
  }
  void map() {
    ASSERT_TRUE(send(MessageType::kBuffers, entries_, fds_));
    expect(MessageType::kMapped);
    entries_.clear();
    fds_.clear();
  }
  bool call(std::uint32_t set, bool count = false, Poison poison = kPoison) {
    protocol::CallBody body{set, count ? protocol::CallMode::kCounted : protocol::CallMode::kPlain};
    body.poison = poison;
    return send(MessageType::kCall, bytes_of(body));
  }
  bool time(const std::vector<std::uint32_t>& sets, Poison poison = kPoison) {
    protocol::TimeBody head{static_cast<std::uint32_t>(sets.size()), 1};
    head.poison = poison;
    std::string body = bytes_of(head);
    for (const auto set : sets) body += bytes_of(set);
    return send(MessageType::kTime, body);
  }
  std::vector<float> values(std::uint32_t set, std::uint32_t index, BufferRole role) {
    const auto& buffer = buffers_.at({set, index, role});
    EXPECT_EQ(broken_red_zone(*device_, buffer), "");
    std::vector<float> values(buffer.size_bytes() / sizeof(float));
    std::memcpy(values.data(), buffer.data(), buffer.size_bytes());
    return values;
  }

 private:
  pid_t pid_ = -1;
  protocol::Channel channel_;
  std::unique_ptr<Device> device_ = open_device("cpu");
  std::map<std::tuple<std::uint32_t, std::uint32_t, BufferRole>, SharedBuffer> buffers_;
  std::string entries_, findings_;
  std::vector<int> fds_;
};

}  // namespace kbench::worker

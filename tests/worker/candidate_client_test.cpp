// SPDX-License-Identifier: MIT
// The client talks with a process that is forked here and behaves as each test wants.
#include "worker/judge/candidate_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "worker/device/device.hpp"
#include "worker/device/host_tasks.hpp"

namespace kbench::worker {
namespace {

using protocol::Channel;
using protocol::MessageType;
using testing::HasSubstr;

constexpr double kLong_s = 60;

/// A process with a group of its own, which runs `play` with its end of the channel.
class Process {
 public:
  explicit Process(const std::function<void(Channel&)>& play) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      close(ends[0]);
      Channel channel(Fd(ends[1]), 1, protocol::kMaxBody);
      play(channel);
      _exit(0);
    }
    setpgid(pid_, pid_);
    close(ends[1]);
    channel_ = Channel(Fd(ends[0]), 1, protocol::kMaxBody);
  }
  ~Process() {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  CandidateClient client(CandidateKind kind = CandidateKind::kModule) {
    return {std::move(channel_), kind, pid_, [this](std::string_view bytes) { findings += bytes; }};
  }
  pid_t pid() const { return pid_; }

  std::string findings;

 private:
  pid_t pid_ = -1;
  Channel channel_;
};

void wait_forever(Channel& /*channel*/) {
  while (true) pause();
}

/// The failure of receiving kMapped.
CandidateFailure failure_of(CandidateClient& client, double limit_s = kLong_s) {
  try {
    client.receive(MessageType::kMapped, limit_s, "loading");
  } catch (const CandidateFailure& failure) {
    return failure;
  }
  return {Outcome::kCorrect, "", ""};
}

std::string failed_body(Outcome outcome) {
  protocol::FailedBody body{};
  body.outcome = static_cast<std::uint32_t>(outcome);
  std::strcpy(body.cause, "raised");
  std::strcpy(body.message, "it says so");
  return {reinterpret_cast<const char*>(&body), sizeof body};
}

TEST(CandidateClient, SendsAndReceives) {
  Process process([](Channel& channel) {
    protocol::Message request;
    channel.receive(request, protocol::Clock::now() + std::chrono::seconds(60));
    channel.send(MessageType::kMapped, request.body + " answered");
  });
  CandidateClient client = process.client();
  client.send(MessageType::kModel, "model");
  EXPECT_EQ(client.receive(MessageType::kMapped, kLong_s, "loading").body, "model answered");
}

TEST(CandidateClient, AProcessThatDiesOrStaysSilentFails) {
  Process dead([](Channel&) {});
  CandidateClient of_dead = dead.client();
  EXPECT_EQ(failure_of(of_dead).cause, "process_died");
  Process silent(wait_forever);
  CandidateClient of_silent = silent.client();
  EXPECT_EQ(failure_of(of_silent, 0.01).cause, "loading_limit");
  EXPECT_FALSE(of_silent.receive_in_time(MessageType::kMapped, 0.01, "queueing"));
}

TEST(CandidateClient, AnotherMessageThanTheExpectedOneFails) {
  Process process([](Channel& channel) {
    channel.send(MessageType::kTimes, "");
    wait_forever(channel);
  });
  CandidateClient client = process.client();
  EXPECT_EQ(failure_of(client).cause, "protocol");
}

TEST(CandidateClient, AReportedFailureIsThrownWithItsFindings) {
  Process process([](Channel& channel) {
    channel.send(MessageType::kFailed, failed_body(Outcome::kCrash) + "findings");
    wait_forever(channel);
  });
  CandidateClient client = process.client();
  const CandidateFailure failure = failure_of(client);
  EXPECT_EQ(failure.outcome, Outcome::kCrash);
  EXPECT_EQ(failure.message, "it says so");
  EXPECT_EQ(process.findings, "findings");
}

/// A module could write such a report itself, and go on.
TEST(CandidateClient, WhatCannotRunHereHasToEnd) {
  Process ends([](Channel& channel) {
    channel.send(MessageType::kFailed, failed_body(Outcome::kUnsupported));
  });
  CandidateClient of_ends = ends.client();
  EXPECT_EQ(failure_of(of_ends).outcome, Outcome::kUnsupported);
  Process goes_on([](Channel& channel) {
    channel.send(MessageType::kFailed, failed_body(Outcome::kUnsupported));
    channel.send(MessageType::kMapped, "");
    wait_forever(channel);
  });
  CandidateClient of_goes_on = goes_on.client();
  EXPECT_THAT(failure_of(of_goes_on).message, HasSubstr("did not end"));
}

TEST(CandidateClient, AStoppedProcessRunsNothing) {
  Process process([](Channel& channel) {
    channel.send(MessageType::kMapped, "");
    while (true) {
    }
  });
  CandidateClient client = process.client();
  client.receive(MessageType::kMapped, kLong_s, "loading");
  client.stop();
  EXPECT_TRUE(client.is_stopped());
  {
    const CandidateClient::Running running(client);
    EXPECT_FALSE(client.is_stopped());
  }
  EXPECT_TRUE(client.is_stopped());
  client.resume();
  EXPECT_NO_THROW(client.refuse_running_stopped());
}

TEST(CandidateClient, AProcessThatRanWhileItWasStoppedIsRefused) {
  Process process([](Channel& channel) {
    channel.send(MessageType::kMapped, "");
    while (true) {
    }
  });
  CandidateClient client = process.client();
  client.receive(MessageType::kMapped, kLong_s, "loading");
  client.stop();
  const double before_s = processor_s(process.pid()).value();
  kill(process.pid(), SIGCONT);  // as a helper of the candidate could do
  while (processor_s(process.pid()).value() < before_s + 0.05) usleep(1000);
  client.resume();
  EXPECT_THROW(client.refuse_running_stopped(), CandidateFailure);
}

}  // namespace
}  // namespace kbench::worker

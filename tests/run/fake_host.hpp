// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// Limits that a test can wait for.
inline WorkerLimits short_limits() {
  WorkerLimits limits;
  limits.start = limits.fork = limits.exit = std::chrono::milliseconds(3000);
  limits.problem = limits.health = limits.settle = std::chrono::milliseconds(700);
  limits.verdict = limits.answer = std::chrono::milliseconds(1500);
  return limits;
}

/// An installation whose worker is the fake one, with the names of its behaviours.
inline Installation fake_installation(const std::string& fork_server,
                                      const std::string& judge = "ok",
                                      const std::string& candidate = "ok") {
  Installation installation;
  installation.worker = std::filesystem::path(KBENCH_BIN_DIR) / "kbench-fake-worker";
  installation.python = fork_server + "/" + judge + "/" + candidate;
  installation.torch_version = "2.11.0+fake";
  return installation;
}

/// A descriptor that a test makes readable to cancel.
class CancelSwitch {
 public:
  CancelSwitch() { std::tie(reading_, writing_) = socket_pair(); }
  int fd() const { return reading_.value(); }
  void pull() const { EXPECT_EQ(write(writing_.value(), "x", 1), 1); }

 private:
  Fd reading_, writing_;
};

/// Fails the test where its end is later than the limits allow: nothing hangs.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::seconds limit = std::chrono::seconds(15)) : limit_(limit) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { EXPECT_LT(std::chrono::steady_clock::now() - start_, limit_); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::seconds limit_;
};

/// The sentence of the kbench::Error that `call` throws; fails the test where it throws none.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no kbench::Error";
  return {};
}

}  // namespace kbench::run

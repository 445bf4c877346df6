// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/error.hpp"
#include "run/fake_host.hpp"
#include "run/process/warm_pool.hpp"
#include "run/schedule/device_queue.hpp"

namespace kbench::run {

/// A device queue behind a fake worker, with candidates whose code is ready.
class QueueBench {
 public:
  QueueBench(const std::string& fork_server, const std::string& judge,
             const std::string& candidate = "ok", bool gpu = false, int cancel_fd = -1,
             std::size_t memory = std::size_t{1} << 30, std::size_t device_queues = 1,
             bool with_warm_processes = false)
      : host_(fake_installation(fork_server, judge, candidate), cancel_fd, short_limits()) {
    problem_.key = "level1/1_Fake";
    problem_.source = "class Model: pass\n";
    options_.device = gpu ? "cuda:2" : "cpu";
    QueueSetup setup;
    setup.host = &host_;
    setup.device = {options_.device, "fake", std::nullopt};
    if (gpu) {
      setup.device.gpu.emplace().memory_bytes = std::uint64_t{1} << 40;
      setup.device.gpu->index = 2;
      setup.device.gpu->uuid = "GPU-2";
    }
    setup.turns = &turns;
    setup.device_queues = device_queues;
    if (with_warm_processes)
      setup.warm_processes = &warm_processes_.emplace(
          host_, *setup.device.gpu, setup.device.name_inside(), turns, 1, cancel_fd);
    setup.options = &options_;
    setup.secret = "s";
    setup.memory_limit_bytes = memory;
    setup.cancel_fd = cancel_fd;
    device_queue_.emplace(std::move(setup));
  }

  Prepared prepared(const std::string& problem_hash = "1") const {
    Prepared prepared;
    prepared.candidate = &candidate_;
    prepared.problem = &problem_;
    prepared.record.model = "me";
    prepared.record.problem_hash = problem_hash;
    prepared.record.flags = {"public_seed"};
    prepared.bound.emplace();
    std::promise<CompileResult> compiled;
    compiled.set_value(Artifact{});
    prepared.compiled = compiled.get_future().share();
    return prepared;
  }
  /// Judges one candidate within limits of time.
  Record judge(Prepared& item, std::vector<Prepared*> following = {}) {
    const Stopwatch watch;
    details = nlohmann::json::object();
    device_queue_->judge(item, following, details);
    return item.record;
  }
  Record judge() {
    Prepared item = prepared();
    return judge(item);
  }

  EvalOptions& options() { return options_; }

  nlohmann::json details;
  DeviceTurns turns;  ///< as other device queues of the device see them

 private:
  WorkerHost host_;
  Problem problem_;
  Candidate candidate_;
  EvalOptions options_;
  std::optional<WarmPool> warm_processes_;
  std::optional<DeviceQueue> device_queue_;
};

inline void expect_correct(const Record& record) {
  EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
}

/// A candidate whose compiler could not be run.
inline Prepared without_compiler(const QueueBench& bench) {
  Prepared item = bench.prepared();
  std::promise<CompileResult> compiled;
  compiled.set_exception(std::make_exception_ptr(Error("kbench-cc cannot be started")));
  item.compiled = compiled.get_future().share();
  return item;
}

}  // namespace kbench::run

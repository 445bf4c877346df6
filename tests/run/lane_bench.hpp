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
#include "run/process/spare_pool.hpp"
#include "run/schedule/lane.hpp"

namespace kbench::run {

/// A lane behind a fake worker, with candidates whose code is ready.
class LaneBench {
 public:
  LaneBench(const std::string& zygote, const std::string& judge,
            const std::string& candidate = "ok", bool gpu = false, int cancel_fd = -1,
            std::size_t memory = std::size_t{1} << 30, std::size_t lanes = 1,
            bool with_spares = false)
      : host_(fake_installation(zygote, judge, candidate), cancel_fd, short_limits()) {
    problem_.key = "level1/1_Fake";
    problem_.source = "class Model: pass\n";
    options_.device = gpu ? "cuda:2" : "cpu";
    LaneSetup setup;
    setup.host = &host_;
    setup.device = {options_.device, "fake", std::nullopt};
    if (gpu) {
      setup.device.gpu.emplace().memory_bytes = std::uint64_t{1} << 40;
      setup.device.gpu->index = 2;
      setup.device.gpu->uuid = "GPU-2";
    }
    setup.turns = &turns;
    setup.lanes = lanes;
    if (with_spares)
      setup.spares = &spares_.emplace(host_, *setup.device.gpu, setup.device.name_inside(), turns,
                                      1, cancel_fd);
    setup.options = &options_;
    setup.secret = "s";
    setup.memory_limit_bytes = memory;
    setup.cancel_fd = cancel_fd;
    lane_.emplace(std::move(setup));
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
    lane_->judge(item, following, details);
    return item.record;
  }
  Record judge() {
    Prepared item = prepared();
    return judge(item);
  }

  EvalOptions& options() { return options_; }

  nlohmann::json details;
  DeviceTurns turns;  ///< as other lanes of the device see them

 private:
  WorkerHost host_;
  Problem problem_;
  Candidate candidate_;
  EvalOptions options_;
  std::optional<SparePool> spares_;
  std::optional<Lane> lane_;
};

inline void expect_correct(const Record& record) {
  EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
}

/// A candidate whose compiler could not be run.
inline Prepared without_compiler(const LaneBench& bench) {
  Prepared item = bench.prepared();
  std::promise<CompileResult> compiled;
  compiled.set_exception(std::make_exception_ptr(Error("kbench-cc cannot be started")));
  item.compiled = compiled.get_future().share();
  return item;
}

}  // namespace kbench::run

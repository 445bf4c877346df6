// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/compile.hpp"
#include "kbench/run.hpp"
#include "run/build/cancelled_builds.hpp"
#include "run/build/extension_builder.hpp"
#include "run/eval/executor_checks.hpp"
#include "run/eval/run_setup.hpp"
#include "run/eval/verdicts.hpp"
#include "run/prepare/check.hpp"
#include "run/prepare/dry_import.hpp"
#include "run/schedule/device_queues.hpp"
#include "run/schedule/trivial_passes.hpp"

namespace kbench {

/// The state of a run, and the steps for one candidate: prepare, judge, deliver.
struct EvalRun::Impl : run::RunSetup {
  Impl(Installation from, EvalOptions asked, Observer& who, int cancel);

  /// The signature, or the problem's failure; found once per problem.
  const std::variant<Signature, std::string>& signature_of(const Problem& problem);
  void ask_signature(const Problem& problem);

  void prepare(run::Prepared& prepared);
  void prepare_other_sizes(run::Prepared& prepared);
  /// Prepares a candidate without a problem.
  void prepare_unplaced(run::Prepared& prepared);
  /// Prefetches a module's builds. They do not depend on the signature, so compilers start before
  /// it is found.
  void send_ahead(run::Prepared& prepared);

  /// A candidate's record before it is judged.
  Record blank_record(const Candidate& candidate, const Problem& problem);
  /// True if a verdict of equal code in this run may be reused.
  bool may_reuse(const run::Prepared& prepared) const {
    return options.reuse && prepared.candidate->reject_cause.empty();
  }

  /// Measures the devices' throughput once, before anything else uses them.
  void measure_devices();
  run::CheckSetup check_setup();
  run::DeviceQueues device_queues(std::size_t judges);
  /// Until it ends, the CPU executor checks candidates of a GPU before their records go to the
  /// sink.
  class Checking {
   public:
    Checking(Impl& run, const std::vector<Problem>& problems, const Sink& sink);
    ~Checking() { run_.checks.reset(); }
    /// Waits for the checks. Throws an error of the sink.
    void finish();

   private:
    Impl& run_;
  };
  /// Judges one candidate on a device queue, or reuses the verdict of equal code, and delivers the
  /// record. Then does the same for its copies.
  void finish(run::DeviceQueue& device_queue, run::Prepared& prepared, run::Following following,
              const Sink& sink);

  Observer& observer;
  std::optional<CompilePool> pool;
  std::optional<run::ExtensionBuilder> builder;
  std::optional<run::CancelledBuilds> cancelled_builds;
  std::optional<run::DryImports> dry_imports;
  std::map<std::pair<std::string, std::string>, std::optional<Problem>> other_problems;
  std::map<std::string, std::shared_future<std::variant<Signature, std::string>>> signatures;
  run::Verdicts verdicts;
  std::optional<run::TrivialPasses> trivial;  ///< none if the run judges by KernelBench's rules
  std::optional<run::ExecutorChecks> checks;
  std::mutex sink_mutex;
  std::atomic<int> faults = 0;

 private:
  bool devices_measured_ = false;
  void open_compilers();
  std::string kernel_arch() const;
  const Problem* problem_at(const Problem& problem, const std::string& name);
  void deliver(run::Prepared& prepared, nlohmann::json details, const Sink& sink);
  void send(Record record, nlohmann::json details, const Sink& sink);
};

}  // namespace kbench

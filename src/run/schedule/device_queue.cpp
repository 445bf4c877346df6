// SPDX-License-Identifier: MIT
#include "run/schedule/device_queue.hpp"

#include "kbench/error.hpp"
#include "os/memory_file.hpp"
#include "record/stored_baselines.hpp"
#include "run/eval_options.hpp"
#include "run/schedule/baseline_processes.hpp"
#include "run/schedule/ncu.hpp"
#include "run/schedule/trivial_passes.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

constexpr int kJudgeAttempts = 2;

/// A candidate may need this many times the memory of the problem's own tensors.
constexpr std::size_t kRoomForCandidates = 2;

/// True if a problem may be judged while other queues judge theirs.
bool shares_memory(const QueueSetup& setup, const Prepared& prepared) {
  return setup.device_queues > 1 &&
         prepared.needed_bytes * kRoomForCandidates * setup.device_queues <=
             setup.device.gpu->memory_bytes;
}

/// A crash counts as the candidate's own fault only if at least 1 / kScarceShare of the device's
/// memory is free.
constexpr std::uint64_t kScarceShare = 4;

/// True if the candidate may have failed because other processes took memory or time. Host code
/// that does not check its allocations crashes when they fail.
bool may_be_for_company(const QueueSetup& setup, const Record& record, std::uint64_t free_bytes) {
  return record.outcome == Outcome::kOutOfMemory ||
         (record.outcome == Outcome::kTimeout && setup.device_queues > 1) ||
         (record.outcome == Outcome::kCrash && setup.device.gpu &&
          free_bytes < setup.device.gpu->memory_bytes / kScarceShare);
}

/// Throws kbench::Error if kbench could not build or send what the candidate's process requested.
/// What happens to that process then says nothing about the candidate.
void throw_fault_of_builds(StartedCandidate& candidate) {
  const std::exception_ptr fault = candidate.service() ? candidate.service()->fault() : nullptr;
  if (!fault) return;
  try {
    std::rethrow_exception(fault);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
}

}  // namespace

json describe_request(const Problem& problem, const Sizes& sizes, const std::string& precision,
                      bool eval_mode) {
  return {{"key", problem.key}, {"path", problem.path.string()}, {"source", problem.source},
          {"sizes", sizes},     {"precision", precision},        {"eval_mode", eval_mode}};
}

const StoredBaselines& stored_times(const EvalOptions& options) {
  static const StoredBaselines kNone;
  return options.stored ? *options.stored : kNone;
}

std::vector<std::string> measured_baselines(const QueueSetup& setup, const Prepared& prepared) {
  const EvalOptions& options = *setup.options;
  const bool is_gated = setup.device.gpu && is_timed(options);
  return stored_times(options).missing(prepared.record, options.baselines,
                                       is_gated ? kGatedMethod : "");
}

json open_request(const QueueSetup& setup, const Prepared& prepared) {
  const EvalOptions& options = *setup.options;
  json request =
      describe_request(*prepared.problem, prepared.sizes, options.precision, options.eval_mode);
  request["device"] = setup.device.name_inside();
  request["secret"] = setup.secret;
  request["trials"] = options.trials;
  request["baselines"] = measured_baselines(setup, prepared);
  request["baseline_cache"] = setup.baseline_cache;
  request["cold_cache"] = options.cold_cache;
  request["distributions"] = options.distributions;
  request["distributions_off"] = prepared.problem->distributions_off;
  request["memory_share"] = 1.0 / static_cast<double>(setup.device_queues);
  request["draw_all"] = false;
  request["ask_trivial"] = setup.trivial != nullptr && prepared.timed &&
                           !setup.trivial->find(prepared.record.problem_hash);
  request["timing_budget_s"] = setup.device.gpu ? options.timing_budget_s : 0;
  return request;
}

DeviceQueue::DeviceQueue(QueueSetup setup)
    : setup_(std::move(setup)), turn_(*setup_.turns), ahead_(setup_, turn_) {}
DeviceQueue::~DeviceQueue() {
  // Ending processes uses the device, so no other queue may take times meanwhile.
  turn_.work();
  open_.clear();
  ahead_.drop_all();
}

void DeviceQueue::judge(Prepared& prepared, Following following, json& details) {
  if (!prepared.decided) wait_for_worker();
  const auto start = std::chrono::steady_clock::now();
  Phases phases;
  Stopwatch watch(phases);
  auto started = ahead_.take(prepared);
  // Draws the reference while the compilers work.
  if (!prepared.decided && !started && !is_compiled(prepared)) {
    open_early(prepared);
    watch.lap("open");
    rest();
  }
  if (!started) started = Ahead::Candidate{&prepared, ready_code(prepared, setup_.cancel_fd), {}};
  watch.lap("compile");
  if (started->code)
    evaluate(prepared, *started->code, std::move(started->process), following, details, phases);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  prepared.record.seconds = elapsed.count();
  look_by_ncu(prepared, details);
  details["phases_s"] = phases;
  if (!prepared.log.empty()) details["compiler_log"] = prepared.log;
}

/// Not part of a candidate's `seconds`, because it takes many times as long as the rest.
void DeviceQueue::look_by_ncu(const Prepared& prepared, json& details) {
  const EvalOptions& options = *setup_.options;
  if (options.ncu.empty() || !prepared.timed || prepared.record.outcome != Outcome::kCorrect)
    return;
  if (options.sandbox && prepared.candidate->kind != CandidateKind::kKernel) {
    details["ncu_failed"] =
        "Nsight Compute cannot profile host code in the sandbox; if you trust the candidate, use "
        "--no-sandbox";
    return;
  }
  turn_.work();
  ahead_.drop_all();
  profile_by_ncu(options.ncu, setup_.kbench, setup_.device, prepared, setup_.cancel_fd, details);
}

/// Waits for the import of torch, which counts as time of the run and not of its first candidate.
void DeviceQueue::wait_for_worker() {
  try {
    setup_.host->torch_version();
  } catch (const Error&) {
    // Judging meets the same error and records it.
  }
}

void DeviceQueue::rest() {
  ahead_.wait_until_quiet();
  turn_.rest();
}

void DeviceQueue::enter(const Prepared& prepared, bool alone) {
  // Closing problems and ending processes use the device too.
  turn_.work();
  // A single queue needs no such limit, because it knows its open problems and the free memory.
  if (setup_.device_queues > 1) {
    // A large problem is opened once for all of its candidates.
    const bool opened = !open_.empty() && open_.front().key == prepared.record.problem_hash;
    const bool yields = turn_.memory_is_wanted() && !(alone && opened);
    if (!turn_.has_memory(alone) || yields) {
      while (!open_.empty()) close_last();
      ahead_.drop_all();
      rest();
      turn_.take_memory(alone);
      turn_.work();
    }
  }
}

void DeviceQueue::close_last() {
  if (open_.empty()) return;
  ahead_.give_judge(std::move(open_.back().judge));
  open_.pop_back();
}

DeviceQueue::OpenProblem& DeviceQueue::open(const Prepared& prepared, bool draw_all) {
  const std::string key = prepared.record.problem_hash;
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->key != key) continue;
    open_.splice(open_.begin(), open_, it);
    return open_.front();
  }
  while (open_.size() >= std::max<std::size_t>(setup_.kept_judges, 1)) close_last();
  if (auto opened = ahead_.take_problem(key)) {
    open_.push_front(std::move(*opened));
    return open_.front();
  }
  OpenProblem opened{key, ahead_.take_judge(), {}};
  json request = open_request(setup_, prepared);
  request["draw_all"] = draw_all;
  if (turn_.has_memory(true)) request["memory_share"] = 1.0;
  opened.judge->start_open(request, kernels_fd());
  auto answer = opened.judge->finish_open();
  if (auto* fault = std::get_if<ProblemFault>(&answer)) {
    opened.failure = std::move(*fault);
    opened.judge.reset();
  }
  open_.push_front(std::move(opened));
  return open_.front();
}

int DeviceQueue::kernels_fd() {
  const auto& kernels = setup_.own_kernels.judge;
  if (!kernels_ && kernels.valid())
    kernels_ = sealed_memory_file(own_image(kernels, setup_.cancel_fd));
  return kernels_.value();
}

void DeviceQueue::open_early(const Prepared& prepared) {
  try {
    enter(prepared, !shares_memory(setup_, prepared));
    open(prepared, true);
  } catch (const Error&) {
    drop(prepared.record.problem_hash);  // judging meets the same error and records it
  }
}

void DeviceQueue::drop(const std::string& key) {
  open_.remove_if([&](const OpenProblem& opened) { return opened.key == key; });
}

void DeviceQueue::evaluate(Prepared& prepared, const ReadyCode& code,
                           std::unique_ptr<StartedCandidate> process, Following following,
                           json& details, Phases& phases) {
  bool alone = false;
  for (int attempt = 1;; ++attempt) {
    try {
      const Record blank = prepared.record;
      if (evaluate_once(prepared, code, std::move(process), alone, following, details, phases))
        return;
      prepared.record = blank;
      details = json::object();
      alone = true;
      --attempt;
    } catch (const Error& error) {
      // The judge died or hangs. The candidate gets one more attempt, alone on the device and with
      // a new judge.
      drop(prepared.record.problem_hash);
      alone = true;
      if (attempt < kJudgeAttempts) continue;
      return decide(prepared, Outcome::kHarnessFault, Stage::kCorrectness, "judge_died",
                    error.what());
    }
  }
}

bool DeviceQueue::evaluate_once(Prepared& prepared, const ReadyCode& code,
                                std::unique_ptr<StartedCandidate> process, bool alone,
                                Following following, json& details, Phases& phases) {
  Stopwatch watch(phases);
  enter(prepared, alone || !shares_memory(setup_, prepared));
  if (alone) ahead_.drop_all();
  watch.lap("turn");
  const bool had_company = process != nullptr || has_company(alone);
  // While this queue waits for a judge, other queues may take times, and this candidate must not
  // run then. If a problem failed while other processes ran, the next attempt, alone on the device,
  // shows if that was the cause.
  if (setup_.device_queues > 1 || alone) open(prepared);
  auto candidate =
      process ? std::move(process)
              : start_candidate(setup_, code, RunAim::kVerdict, ahead_.take_warm_process());
  candidate->freeze(false);
  watch.lap("start");
  OpenProblem& opened = open(prepared);
  watch.lap("open");
  if (opened.failure) {
    // Any failure may be a lack of memory, because libraries report that in their own ways.
    if (!alone && !opened.failed_alone) {
      drop(opened.key);
      return false;
    }
    opened.failed_alone = true;
    details["problem_log"] = opened.failure->log;
    decide(prepared, Outcome::kProblemFailure, Stage::kCorrectness, opened.failure->cause,
           opened.failure->message);
    return true;
  }
  if (const auto& names = opened.judge->trivial_answers(); names && setup_.trivial != nullptr)
    setup_.trivial->keep(prepared.record.problem_hash, *names);
  if (opened.baselines.empty())
    opened.baselines = start_baselines(setup_, prepared, *opened.judge, ahead_);
  if (!alone) {
    ahead_.start_candidates(following);
    ahead_.open_problem(prepared, following, kernels_fd());
  }
  watch.lap("start_next");
  run_evaluation(prepared, code, *opened.judge, *candidate, RunAim::kVerdict, details);
  for (const auto& [phase, seconds] : verdict_phases_) phases[phase] += seconds;
  const bool correct = prepared.record.outcome == Outcome::kCorrect;
  if (!correct) throw_fault_of_builds(*candidate);
  const bool has_kernels =
      code.kind == CandidateKind::kKernel ||
      (!correct && candidate->service() && candidate->service()->summary().builds > 0);
  if (correct) ahead_.let_end(prepared, std::move(candidate));
  candidate.reset();
  // The process's end still uses the device, so the queue keeps its access until here.
  if (turn_.is_timing()) turn_.rest();
  if (correct) return true;
  // The processes of baselines hold memory, too.
  const bool shares = had_company || (!alone && !opened.baselines.empty());
  if (shares && may_be_for_company(setup_, prepared.record, free_bytes_)) {
    drop(opened.key);
    return false;
  }
  Stopwatch closer(phases);
  if (!look_closer(prepared, code, has_kernels, *opened.judge, details)) drop(opened.key);
  closer.lap("look_closer");
  return true;
}

/// True if other processes may hold memory that the candidate needs. One candidate's memory must
/// not decide another candidate's verdict.
bool DeviceQueue::has_company(bool alone) const {
  return !alone && (setup_.device_queues > 1 || ahead_.holds_any());
}

}  // namespace kbench::run

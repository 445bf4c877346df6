// SPDX-License-Identifier: MIT
#include "run/schedule/ahead.hpp"

#include <algorithm>

#include "base/fd.hpp"
#include "kbench/error.hpp"
#include "run/process/warm_pool.hpp"
#include "run/schedule/failure_findings.hpp"

namespace kbench::run {
namespace {

/// The most candidates that are prefetched. Each uses half a gigabyte of the GPU's memory.
constexpr std::size_t kMostAhead = 2;
/// A problem is prefetched only if it and the current problem each need at most 1 / kSmallShare of
/// the queue's part of the GPU's memory.
constexpr std::size_t kSmallShare = 8;

bool is_small(const QueueSetup& setup, const Prepared& prepared) {
  return prepared.needed_bytes * kSmallShare * setup.device_queues <=
         setup.device.gpu->memory_bytes;
}

}  // namespace

std::optional<ReadyCode> ready_code(Prepared& prepared, int cancel_fd) {
  try {
    return finish_compile(prepared, cancel_fd);
  } catch (const Error& error) {
    // The build was cancelled together with the run, which is not a fault.
    if (is_readable(cancel_fd)) throw Cancelled{};
    decide(prepared, Outcome::kHarnessFault, Stage::kCompile, "compiler_failed", error.what());
    return std::nullopt;
  }
}

std::unique_ptr<StartedCandidate> start_candidate(const QueueSetup& setup, const ReadyCode& code,
                                                  RunAim aim,
                                                  std::unique_ptr<WarmCandidate> warm_process) {
  CandidateJob job;
  job.kind = code.kind;
  job.module = code.module;
  job.device = setup.device.name_inside();
  job.visible_gpu = setup.device.visible_gpu();
  job.plan = code.plan;
  job.image = code.image;
  job.undefined_ptx = code.undefined_ptx;
  if (const auto& kernels = setup.own_kernels.timing; kernels.valid())
    job.timing_image = own_image(kernels, setup.cancel_fd);
  job.sources_writable = aim == RunAim::kWrittenSource;
  if (!setup.device.gpu)
    job.sanitize = aim == RunAim::kFindings ? kAllChecks : setup.options->sanitize;
  job.max_instructions = setup.options->max_instructions;
  return std::make_unique<StartedCandidate>(*setup.host, std::move(job), setup.memory_limit_bytes,
                                            setup.builder, std::move(warm_process));
}

void Ahead::freeze(Candidate& candidate, bool frozen) {
  candidate.frozen = frozen;
  if (candidate.process) candidate.process->freeze(frozen);
}

void Ahead::start_candidates(Following following) {
  if (!setup_.device.gpu) return;
  const auto is_started = [&](const Prepared* prepared) {
    return std::ranges::find(candidates_, prepared, &Candidate::prepared) != candidates_.end();
  };
  // Candidates that take long to load continue while no time is taken.
  for (auto& candidate : candidates_)
    if (candidate.frozen && !candidate.settled) freeze(candidate, false);
  for (Prepared* prepared : following) {
    if (candidates_.size() >= kMostAhead) return;
    if (prepared->decided || is_started(prepared) || !is_compiled(*prepared)) continue;
    Candidate candidate{.prepared = prepared, .code = ready_code(*prepared, setup_.cancel_fd)};
    if (candidate.code) {
      std::unique_ptr<WarmCandidate> warm_process;
      if (setup_.warm_processes != nullptr) {
        warm_process = setup_.warm_processes->take_candidate(false);
        if (!warm_process) return;
      }
      candidate.process =
          start_candidate(setup_, *candidate.code, RunAim::kVerdict, std::move(warm_process));
    }
    candidates_.push_back(std::move(candidate));
  }
}

std::optional<Ahead::Candidate> Ahead::take(const Prepared& prepared) {
  const auto found = std::ranges::find(candidates_, &prepared, &Candidate::prepared);
  if (found == candidates_.end()) return std::nullopt;
  Candidate candidate = std::move(*found);
  candidates_.erase(found);
  return candidate;
}

template <typename Wait>
auto Ahead::waited(Wait wait) -> decltype(wait()) {
  wait_until_quiet();
  turn_.rest();
  auto result = wait();
  turn_.work();
  return result;
}

std::unique_ptr<JudgeClient> Ahead::take_ready_judge() {
  if (free_judge_) return std::move(free_judge_);
  return setup_.warm_processes != nullptr ? setup_.warm_processes->take_judge(false) : nullptr;
}

std::unique_ptr<JudgeClient> Ahead::take_judge() {
  auto judge = take_ready_judge();
  if (!judge && setup_.warm_processes != nullptr)
    judge = waited([this] { return setup_.warm_processes->take_judge(true); });
  return judge ? std::move(judge)
               : std::make_unique<JudgeClient>(*setup_.host, setup_.cancel_fd,
                                               setup_.device.visible_gpu());
}

void Ahead::give_judge(std::unique_ptr<JudgeClient> judge) {
  if (judge && !free_judge_ && judge->close()) free_judge_ = std::move(judge);
}

std::unique_ptr<WarmCandidate> Ahead::take_warm_process() {
  if (setup_.warm_processes == nullptr) return nullptr;
  if (auto warm_process = setup_.warm_processes->take_candidate(false)) return warm_process;
  return waited([this] { return setup_.warm_processes->take_candidate(true); });
}

void Ahead::open_problem(const Prepared& current, Following following, int kernels_fd) {
  if (!setup_.device.gpu || problem_) return;
  const auto next = std::ranges::find_if(following, [&](const Prepared* prepared) {
    return prepared->record.problem_hash != current.record.problem_hash;
  });
  // Opens it only during the last candidate of the current problem; earlier it would waste memory.
  if (next == following.end() || next != following.begin() || (*next)->decided) return;
  if (!is_small(setup_, current) || !is_small(setup_, **next)) return;
  auto judge = take_ready_judge();
  if (!judge) return;  // the problem gets a judge when it is needed
  try {
    problem_ = OpenProblem{(*next)->record.problem_hash, std::move(judge), std::nullopt};
    nlohmann::json request = open_request(setup_, **next);
    request["draw_all"] = true;
    problem_->judge->start_open(request, kernels_fd);
    opening_ = true;
  } catch (const Error&) {
    problem_.reset();  // opening it when it is needed reports the error
  }
}

void Ahead::finish_opening() {
  if (!opening_) return;
  opening_ = false;
  try {
    // Memory in use by other processes may be the cause, so the problem is opened again when it is
    // needed.
    if (std::holds_alternative<ProblemFault>(problem_->judge->finish_open())) problem_.reset();
  } catch (const Error&) {
    problem_.reset();  // as above
  }
}

std::optional<Ahead::OpenProblem> Ahead::take_problem(const std::string& key) {
  if (!problem_ || problem_->key != key) return std::nullopt;
  finish_opening();
  return std::exchange(problem_, std::nullopt);
}

void Ahead::drop_problem() {
  try {
    finish_opening();
  } catch (const Cancelled&) {
    problem_.reset();  // Also reached when a queue ends, so it must not throw; the next wait does
  }
  if (problem_) give_judge(std::move(problem_->judge));
  problem_.reset();
  opening_ = false;
}

void Ahead::wait_until_free() {
  try {
    if (free_judge_ && !free_judge_->healthy()) free_judge_.reset();
  } catch (const Error&) {
    free_judge_.reset();
  }
}

void Ahead::let_end(const Prepared& prepared, std::unique_ptr<StartedCandidate> process) {
  process->end();
  const bool lingers = setup_.device.gpu && setup_.device_queues == 1 && is_small(setup_, prepared);
  if (lingers) ending_.push_back(std::move(process));
}

void Ahead::drop_all() {
  ending_.clear();
  drop_problem();
  free_judge_.reset();
  candidates_.clear();
}

void Ahead::wait_until_quiet() {
  const auto limit = setup_.host->limits().settle;
  finish_opening();
  wait_until_free();
  ending_.clear();
  for (auto& candidate : candidates_) {
    if (!candidate.process || candidate.frozen) continue;
    candidate.settled = candidate.process->wait_settled(limit, setup_.cancel_fd);
    freeze(candidate, true);
  }
}

}  // namespace kbench::run

// SPDX-License-Identifier: MIT
#include "run/ahead.hpp"

#include <algorithm>
#include <set>

#include "kbench/error.hpp"

namespace kbench::run {
namespace {

/// Processes of either kind that stand ready at most: each holds half a gigabyte of the GPU.
constexpr std::size_t kMostAhead = 3;
/// A problem is opened beside a lane's current one where neither needs more of the lane's share of
/// the GPU's memory than one part in this.
constexpr std::size_t kSmallShare = 24;

bool is_small(const LaneSetup& setup, const Prepared& prepared) {
  return prepared.needed_bytes * kSmallShare * setup.lanes <= setup.device.gpu->memory_bytes;
}

}  // namespace

std::optional<ReadyCode> ready_code(Prepared& prepared, int cancel_fd) {
  try {
    return finish_compile(prepared, cancel_fd);
  } catch (const Error& error) {
    decide(prepared, Outcome::kHarnessFault, Stage::kCompile, "compiler_failed", error.what());
    return std::nullopt;
  }
}

std::unique_ptr<StartedCandidate> start_candidate(const LaneSetup& setup, const ReadyCode& code,
                                                  bool sources_writable) {
  CandidateJob job;
  job.kind = code.kind;
  job.module = code.module;
  job.device = setup.device.name;
  job.plan = code.plan;
  job.image = code.image;
  job.sources_writable = sources_writable;
  if (!setup.device.gpu) job.sanitize = setup.options->sanitize;
  job.max_instructions = setup.options->max_instructions;
  return std::make_unique<StartedCandidate>(*setup.host, std::move(job), setup.memory_limit_bytes,
                                            setup.builder);
}

void Ahead::start_candidates(Following following) {
  if (!setup_.device.gpu || !candidates_.empty()) return;
  for (Prepared* prepared : following) {
    if (candidates_.size() == kMostAhead) return;
    if (prepared->decided || !is_compiled(*prepared)) continue;
    Candidate candidate{prepared, ready_code(*prepared, setup_.cancel_fd), nullptr};
    if (candidate.code) candidate.process = start_candidate(setup_, *candidate.code, false);
    candidates_.push_back(std::move(candidate));
  }
}

std::optional<Ahead::Candidate> Ahead::take(const Prepared& prepared) {
  const auto found = std::ranges::find(candidates_, &prepared, &Candidate::prepared);
  if (found == candidates_.end()) return std::nullopt;
  Candidate candidate = std::move(*found);
  candidates_.erase(found);
  if (candidate.process) candidate.process->freeze(false);
  return candidate;
}

std::unique_ptr<JudgeClient> Ahead::take_judge() {
  if (judges_.empty()) return std::make_unique<JudgeClient>(*setup_.host, setup_.cancel_fd);
  auto judge = std::move(judges_.front());
  judges_.pop_front();
  return judge;
}

void Ahead::start_judges(Following following) {
  if (!setup_.device.gpu || !judges_.empty()) return;
  std::set<std::string_view> problems;
  for (const Prepared* prepared : following) problems.insert(prepared->record.problem_hash);
  // One at least: what comes next may not be known yet.
  const std::size_t wanted = std::clamp<std::size_t>(problems.size(), 1, kMostAhead);
  while (judges_.size() < wanted) {
    judges_.push_back(std::make_unique<JudgeClient>(*setup_.host, setup_.cancel_fd));
    judges_.back()->warm(setup_.device.name);
  }
}

void Ahead::open_problem(const Prepared& current, Following following, int kernels_fd) {
  if (!setup_.device.gpu || problem_) return;
  const auto next = std::ranges::find_if(following, [&](const Prepared* prepared) {
    return prepared->record.problem_hash != current.record.problem_hash;
  });
  // Not before the last candidate of a problem: it would hold its memory for nothing.
  if (next == following.end() || next != following.begin() || (*next)->decided) return;
  if (!is_small(setup_, current) || !is_small(setup_, **next)) return;
  try {
    problem_ = Problem{(*next)->record.problem_hash, take_judge(), std::nullopt};
    problem_->judge->start_open(open_request(setup_, **next), kernels_fd);
    opening_ = true;
  } catch (const Error&) {
    problem_.reset();  // opening it in its turn will tell what is wrong
  }
}

void Ahead::finish_opening() {
  if (!opening_) return;
  opening_ = false;
  try {
    auto answer = problem_->judge->finish_open();
    if (auto* fault = std::get_if<ProblemFault>(&answer)) {
      problem_->failure = std::move(*fault);
      problem_->judge.reset();
    }
  } catch (const Error&) {
    problem_.reset();  // as above
  }
}

std::optional<Ahead::Problem> Ahead::take_problem(const std::string& key) {
  if (!problem_ || problem_->key != key) return std::nullopt;
  finish_opening();
  return std::exchange(problem_, std::nullopt);
}

void Ahead::drop_problem() {
  problem_.reset();
  opening_ = false;
}

void Ahead::wait_until_quiet() {
  const auto limit = setup_.host->limits().settle;
  finish_opening();
  for (const auto& candidate : candidates_) {
    if (!candidate.process) continue;
    candidate.process->wait_settled(limit, setup_.cancel_fd);
    candidate.process->freeze(true);
  }
  for (auto judge = judges_.begin(); judge != judges_.end();) {
    try {
      (*judge)->wait_warm(limit);
      ++judge;
    } catch (const Error&) {
      judge = judges_.erase(judge);  // the next problem starts one of its own
    }
  }
}

}  // namespace kbench::run

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "worker/evaluation.hpp"

// Whose kernels a candidate runs, and whether they matter.
namespace kbench::worker {

using protocol::MessageType;

namespace {

/// Timed calls that are looked at: by others than those that are checked a candidate could earn its
/// time.
constexpr std::size_t kLookedCalls = 2;

}  // namespace

void Evaluation::take_class(const protocol::CalledBody& called) {
  Record& record = verdict_.record;
  if (called.unseen != 0) {
    record.kernel_class = kUnknownClass;
    flag("ledger_lost");
  }
  if (record.kernel_class == kUnknownClass) return;
  const bool own = record.kernel_class == "own" || record.kernel_class == "mixed";
  const bool library = record.kernel_class == "library" || record.kernel_class == "mixed";
  const bool now_own = own || called.launches > 0;
  const bool now_library = library || called.computed != 0;
  record.kernel_class = now_own ? now_library ? "mixed" : "own" : now_library ? "library" : "none";
}

void Evaluation::look_at_timed_calls() {
  if (!tells_its_times()) return;
  const auto slots =
      std::span(std::as_const(counted_slots_)).first(std::min(counted_slots_.size(), kLookedCalls));
  // Of inputs that it has seen it may know the answer.
  problem_.refresh_timed(slots.size());
  poison_outputs(slots);
  problem_.device().synchronize();
  freeze(false);
  time_slots(slots, true);
  freeze(true);
}

void Evaluation::check_own() const {
  const Record& record = verdict_.record;
  if (!request_.require_own || record.kernel_class == "own") return;
  std::string what = "not all kernels that ran could be seen";
  if (is_ghost_)
    what = "without its own kernels it gives the same answer";
  else if (record.kernel_class == "none")
    what = "nothing was computed in calls that were looked at";
  else if (std::ranges::find(record.flags, "inputs_read_back") != record.flags.end())
    what = "it copies inputs or weights to the host, which may compute a part of it";
  else if (record.kernel_class != kUnknownClass)
    what = fmt::format("torch or another library computes {} of it",
                       record.kernel_class == "mixed" ? "a part" : "all");
  throw CandidateFailure{Outcome::kRejected, "not_own_kernels", what};
}

/// Nothing but its kernels computes for a kernel candidate.
bool Evaluation::may_be_ghost() const {
  const auto& found = verdict_.record.kernel_class;
  return request_.kind != CandidateKind::kKernel && (found == "own" || found == "mixed");
}

void Evaluation::run_ghost() {
  if (!may_be_ghost()) return;
  const JudgedProblem::TimedSpan span(problem_);
  const std::size_t slot = problem_.timed_slots().front();
  problem_.refresh_timed(1);
  share(slot);
  const JudgedProblem::TimedAnswers answers(problem_, slot);
  freeze(false);
  problem_.device().synchronize();
  protocol::Message message;
  try {
    message = send_call(slot, protocol::CallMode::kGhost);
  } catch (const CandidateFailure&) {
    return;  // it cannot do without them
  }
  const auto called = called_of(message);
  if (!called) return;
  // On a GPU others launch kernels, too, or replay them, whom nobody holds back.
  const bool all_held = problem_.options().device == "cpu" || called->launches == 0;
  if (!all_held || called->unseen != 0) return;
  if (judge_outputs(slot, problem_.slot_set(slot)).wrong_elements > 0) return;
  is_ghost_ = true;
  verdict_.record.kernel_class = "library";
  flag("ghost_kernels");
}

}  // namespace kbench::worker

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

/// Blocks of timed calls that are looked at: by others than those that are checked a candidate
/// could earn its time. One of the first, of which there are so many in any case, and of so many
/// others one.
constexpr std::uint64_t kFirstBlocks = 4, kFirstRoughBlocks = 2;
constexpr std::uint64_t kUnlookedBlocks = 6;

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

bool Evaluation::is_looked_before() {
  const bool is_rough = problem_.device().timing_method() == "wall";
  if (blocks_ == 0)
    first_look_ = protocol::random_nonce() % (is_rough ? kFirstRoughBlocks : kFirstBlocks);
  const std::uint64_t block = blocks_++;
  return block == first_look_ ||
         (block > first_look_ && protocol::random_nonce() % kUnlookedBlocks == 0);
}

void Evaluation::look_at_block(Block block) {
  const auto unseen = static_cast<std::size_t>(unseen_calls(block));
  problem_.refresh_timed(unseen);
  const auto slots = slots_of(block);
  const auto asked = std::span(slots).last(unseen);
  const bool on_gpu = problem_.device().timing_method() != "wall";
  const auto clock =
      std::exchange(clock_, on_gpu ? protocol::TimeClock::kDevice : protocol::TimeClock::kEvents);
  traced_.clear();
  try {
    time_walled(slots, block, true);
  } catch (const NoSuchTimes&) {
    freeze(true);
    clock_ = protocol::TimeClock::kEvents;
    time_walled(slots, block, true);
  }
  clock_ = clock;
  // Of calls that do not count the records say nothing.
  const auto first =
      traced_.size() - std::min(traced_.size(), static_cast<std::size_t>(block.counted));
  looked_.insert(looked_.end(), traced_.begin() + static_cast<std::ptrdiff_t>(first),
                 traced_.end());
  refuse_written(asked);
  asked_slots_.assign(asked.begin(), asked.end());
  look_at_timed_outputs();
  check_timed_output(asked[protocol::random_nonce() % asked.size()]);
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
    // It cannot do without them, or has noticed.
    return flag("ghost_unchecked");
  }
  const auto called = called_of(message);
  // On a GPU others launch kernels, too, or replay them, whom nobody holds back.
  const bool all_held = called && (problem_.options().device == "cpu" || called->launches == 0) &&
                        called->unseen == 0;
  if (!all_held) return flag("ghost_unchecked");
  if (judge_outputs(slot, problem_.slot_set(slot)).wrong_elements > 0) return;
  is_ghost_ = true;
  verdict_.record.kernel_class = "library";
  flag("ghost_kernels");
}

}  // namespace kbench::worker

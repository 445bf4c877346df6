// SPDX-License-Identifier: MIT
#include <algorithm>

#include "worker/judge/evaluation.hpp"

// Blocks of gated calls for all subjects, and checks for work outside of the calls' time.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Number of single calls before each comparison with the calls of larger blocks.
constexpr int kSingleCalls = 4;
/// Single calls may be slower than calls of larger blocks by this time or fraction, and by this
/// factor times the same difference of the baseline. For example, the first call of a block brings
/// weights into the cache.
constexpr double kSingleSlack_ms = 0.002, kSingleSlack = 0.1, kCommonSlack = 1.25;
/// If single calls are still slower after so many, their times count.
constexpr std::size_t kSingleTimes = 24;
/// The least fraction of a call's time that remains after the time of an empty call is subtracted:
/// parts of an empty call happen while a call's work runs.
constexpr double kLeastAlone = 0.5;
/// A call without work takes no time. Ratios need one.
constexpr double kLeast_ms = 1e-5;
/// A block's time includes the time for which the judge lost its processor while a word appeared.
/// Blocks with more than this are repeated, at most so many in a row.
constexpr double kMostBlind_ms = 0.005;
constexpr int kMostBlindBlocks = 8;

}  // namespace

void Evaluation::note_gate() {
  verdict_.raw_ms["gate costs"] = {gate_costs_.switch_ms, gate_costs_.empty_ms,
                                   gate_costs_.start_ms, gate_costs_.slice_ms};
  for (const auto& [name, times] : gate_->single_ms) verdict_.raw_ms[name + " single"] = times;
  verdict_.raw_ms["gate switch"] = gate_->switches_ms;
  verdict_.raw_ms["gate start"] = gate_->starts_ms;
  for (const auto& [name, process] : timed_baselines_) {
    verdict_.raw_ms[name + " gate switch"] = process->gate_->switches_ms;
    verdict_.raw_ms[name + " gate start"] = process->gate_->starts_ms;
  }
}

std::vector<std::size_t> Evaluation::gated_slots(bool single) const {
  auto slots = gate_slots_;
  if (single) return {slots[protocol::random_nonce() % slots.size()]};
  const std::size_t fewest = slots.size() - slots.size() / 4;
  slots.resize(fewest + protocol::random_nonce() % (slots.size() - fewest + 1));
  return slots;
}

void Evaluation::trace_gated_block() {
  const auto slots = gated_slots(is_alone_);
  const GatedBlock seen =
      is_alone_ ? run_alone(slots, BlockKind::kAloneTraced) : run_block(slots, BlockKind::kTraced);
  if (seen.worked_ahead || seen.worked_on) refuse_void_block(seen, *this);
  asked_slots_ = slots;
  look_at_timed_outputs();
  check_timed_output(slots[protocol::random_nonce() % slots.size()]);
  client_.resume();
  client_.send(MessageType::kTrace, {});
  const auto message =
      client_.receive(MessageType::kCalled, patience_s(call_limit_s()), "being timed");
  client_.stop();
  if (const auto called = called_of(message)) {
    take_noted(*called);
    take_class(*called);
  }
}

double Evaluation::alone_ms(const GatedBlock& block) const {
  return std::max(block.times.run_ms - empty_call_ms_, kLeastAlone * block.times.run_ms);
}

double Evaluation::time_gated(Evaluation& subject, bool single) {
  int blind_blocks = 0;
  while (true) {
    const auto slots = gated_slots(is_alone_ || single);
    GatedBlock seen;
    const auto run = [&](Evaluation& process) {
      seen = is_alone_ ? process.run_alone(slots) : process.run_block(slots);
    };
    &subject == this ? run(subject) : with_baseline(subject, run);
    if (seen.worked_ahead || seen.worked_on) {
      subject.refuse_void_block(seen, *this);
      continue;
    }
    if (&subject == this) {
      refuse_written(slots);
      asked_slots_ = slots;
      look_at_timed_outputs();
    }
    if (seen.times.blind_ms > kMostBlind_ms && ++blind_blocks <= kMostBlindBlocks) continue;
    if (is_alone_) return alone_ms(seen);
    return std::max(gated_ms(seen, gate_costs_) / static_cast<double>(slots.size()), kLeast_ms);
  }
}

void Evaluation::refuse_void_block(const GatedBlock& block, Evaluation& judging) {
  constexpr int kMostVoidBlocks = 2;
  if (++gate_->void_blocks < kMostVoidBlocks) return;
  if (&judging != this) throw NoSuchTimes{"gpu_shared"};
  // Another user of the GPU would disturb blocks of a baseline, too.
  for (const auto& [name, process] : judging.timed_baselines_)
    if (process->gate_->void_blocks > 0) throw NoSuchTimes{"gpu_shared"};
  with_baseline(*judging.calibrator_, [](Evaluation& process) { process.empty_call_ms(); });
  if (block.worked_ahead)
    throw CandidateFailure{
        Outcome::kCheat, "worked_ahead",
        "the GPU worked for the candidate while kbench wrote the inputs of timed "
        "calls, before their time began"};
  throw CandidateFailure{Outcome::kCheat, "late_work",
                         "the GPU still worked for the candidate after it had reported the end of "
                         "its calls"};
}

void Evaluation::add_single_calls(std::map<std::string, std::vector<double>>& single_ms) {
  for (auto& [name, times] : single_ms) {
    Evaluation& subject = name == "candidate" ? *this : *timed_baselines_.at(name);
    for (int i = 0; i < kSingleCalls; ++i) times.push_back(time_gated(subject, true));
  }
  check_timed_output(asked_slots_.front());
}

void Evaluation::count_late_ends(TimedRun& run) {
  if (is_alone_) return;  // these times include the start of the judge's kernel
  const auto calls = static_cast<double>(gate_slots_.size());
  auto& times = run.measurements.at("candidate");
  const double late_ms =
      late_end_ms(gate_->starts_ms, calibrator_->gate_->starts_ms, calls * median(times));
  if (late_ms == 0) return;
  flag("late_end");
  for (double& ms : times) ms += late_ms / calls;
}

void Evaluation::compare_with_single_calls(const TimedRun& run) {
  if (gate_slots_.size() < 2 || is_alone_)
    return;  // a block has one call, so no calls can be computed together
  std::map<std::string, std::vector<double>> single_ms;
  for (const auto& [name, times] : run.measurements) single_ms[name];
  const auto slower_ms = [&](const std::string& name) {
    return median(single_ms.at(name)) - median(run.measurements.at(name));
  };
  const double slack_ms =
      std::max(kSingleSlack_ms, kSingleSlack * median(run.measurements.at("candidate")));
  const auto is_slower = [&] {
    double common_ms = 0;
    for (const auto& [name, times] : single_ms)
      if (name != "candidate") common_ms = std::max(common_ms, slower_ms(name));
    return slower_ms("candidate") > slack_ms + kCommonSlack * common_ms;
  };
  do {
    add_single_calls(single_ms);
    gate_->single_ms = single_ms;
    if (!is_slower()) return;
  } while (single_ms.at("candidate").size() < kSingleTimes);
  flag("batched_calls");
  single_times_ = single_ms;
}

}  // namespace kbench::worker

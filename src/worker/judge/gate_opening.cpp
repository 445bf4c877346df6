// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "record/baseline.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Preparations for the first timed block behind a gate: memory, calls with an open gate, the costs
// of an empty block, and the number of calls in a block.
namespace kbench::worker {
namespace {

using protocol::MessageType;

constexpr double kGateLimit_s = 60;
/// Number of blocks without calls that measure what such a block takes, for a problem's first
/// candidate. Each later one adds a block.
constexpr int kEmptyBlocks = 5;
/// If this many of a candidate's were disturbed, others use the GPU.
constexpr int kDisturbedBlocks = 2;
/// If a block cannot be queued, its number of calls is divided by this.
constexpr std::size_t kFewerCalls = 4;
/// A block needs no more calls if it takes kEnoughBlock_ms for each subject. No subject's block
/// should take above kMostBlock_ms, but it has at least one call.
constexpr double kEnoughBlock_ms = 8, kMostBlock_ms = 100;
constexpr std::size_t kLeastOutputs_bytes = std::size_t{256} << 20;

/// True if calls that cannot be queued for this reason may be queued if their outputs are copied.
/// The memory for outputs that are not copied may have been too short for a call.
bool may_copy(std::string_view why) {
  return why == "gate_outputs_elsewhere" || why == "gate_failed";
}

}  // namespace

SharedBuffer Evaluation::output_memory(std::size_t calls, bool alone) {
  auto& device = problem_.device();
  std::size_t inputs = 0, outputs = 0;
  for (const BoundTensor& tensor : request_.plan.tensors) {
    if (tensor.role == BoundTensor::Role::kInput) inputs += tensor.info.bytes();
    if (tensor.role == BoundTensor::Role::kOutput) outputs += tensor.info.bytes();
  }
  // torch's allocator leaves some of it unused, and calls need memory for temporaries.
  std::size_t wanted = kLeastOutputs_bytes + 2 * calls * outputs + 8 * (inputs + outputs);
  // The gate of a baseline's process may serve calls of later candidates that can be queued.
  if ((alone && !request_.baseline) || request_.kind == CandidateKind::kKernel) wanted = 1;
  const std::size_t granule = device.granularity();
  BufferLayout layout;
  layout.mapped_bytes = (std::min(wanted, device.free_bytes() / 3) / granule + 1) * granule;
  layout.data_bytes = layout.mapped_bytes;
  try {
    return create_shared(device, layout, true);
  } catch (const c10::OutOfMemoryError&) {
    throw NoSuchTimes{"gate_no_room"};
  } catch (const CandidateFailure&) {
    throw NoSuchTimes{"gate_no_room"};
  } catch (const ProblemFailure&) {
    throw NoSuchTimes{"gate_no_room"};
  }
}

void Evaluation::open_gate(std::span<const std::size_t> slots, bool copies, bool alone) {
  client_.resume();
  if (!gate_) {
    auto gate = std::make_unique<Gate>();
    gate->outputs = output_memory(slots.size(), alone);
    gate_ = std::move(gate);
    const protocol::GateBody body{gate_->outputs.size_bytes()};
    client_.send(MessageType::kGate, {reinterpret_cast<const char*>(&body), sizeof body},
                 {gate_->clock.fd(), gate_->outputs.fd()});
    client_.receive(MessageType::kMapped, kGateLimit_s, "mapping its gate");
  }
  gate_->switches_ms.clear();
  gate_->starts_ms.clear();
  gate_->void_blocks = 0;
  if (alone) return;
  // A baseline's gate may be ready from an earlier candidate.
  if (gate_->ready_calls == slots.size() && gate_->copies == copies) return;
  gate_->ready_calls = 0;
  gate_->copies = copies;
  // The first calls have an open gate, because allocators, lazy loading and autotuners would wait
  // for a closed one.
  for (int i = 0; i < 2; ++i) {
    gate_->queueing_ms = 0;
    gate_->calls_ms = open_block_ms(slots);
  }
  run_block(slots);
  gate_->ready_calls = slots.size();
}

double Evaluation::open_block_ms(std::span<const std::size_t> slots) {
  const auto start = protocol::Clock::now();
  queue_calls(slots, 0, BlockKind::kTimed);
  if (!gate_->clock.wait_done(call_limit_s() * 1000 * static_cast<double>(slots.size() + 1)))
    throw NoSuchTimes{"gate_synchronizes"};
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  return took.count();
}

GateCosts Evaluation::gate_costs() {
  auto& seen = gate_->empty_blocks;
  take_empty_blocks(
      seen.empty() ? kEmptyBlocks : 1, [&] { return run_block({}); },
      [&](const GatedBlock& block) { seen.push_back(block); });
  const auto middle = [&](auto&& part_of) {
    std::vector<double> parts;
    parts.reserve(seen.size());
    for (const GatedBlock& block : seen) parts.push_back(part_of(block));
    return median(std::move(parts));
  };
  return {middle([](const GatedBlock& block) { return block.times.switch_ms; }),
          middle([](const GatedBlock& block) { return block.times.run_ms; }),
          middle([](const GatedBlock& block) { return block.start_ms; }), time_slice_ms()};
}

double Evaluation::empty_call_ms() {
  std::vector<double> runs;
  take_empty_blocks(
      kEmptyBlocks, [&] { return run_alone({}); },
      [&](const GatedBlock& block) { runs.push_back(block.times.run_ms); });
  return median(std::move(runs));
}

void Evaluation::take_empty_blocks(int count, const std::function<GatedBlock()>& run,
                                   const std::function<void(const GatedBlock&)>& take) {
  int disturbed = 0;
  for (int taken = 0; taken < count;) {
    const GatedBlock block = run();
    if (block.worked_ahead || block.worked_on) {
      if (++disturbed == kDisturbedBlocks) throw NoSuchTimes{"gpu_shared"};
      continue;
    }
    take(block);
    ++taken;
  }
}

void Evaluation::choose_baselines() {
  timed_baselines_.clear();
  for (const std::string& name : problem_.baselines()) {
    const auto found = baselines_->find(name);
    const std::string why = found == baselines_->end()            ? "its process could not start"
                            : !found->second->why_failed_.empty() ? found->second->why_failed_
                                                                  : found->second->why_not_now_;
    if (why.empty()) {
      timed_baselines_.emplace(name, found->second.get());
      verdict_.failed_baselines.erase(name);
    } else {
      verdict_.failed_baselines[name] = why;
    }
  }
}

void Evaluation::open_all(std::span<const std::size_t> slots) {
  calibrator_ = nullptr;
  bool is_compiled = false;
  // Also those whose stored times replace measured ones: one of them measures an empty block.
  for (const auto& [name, process] : *baselines_) {
    if (!process->why_failed_.empty() || !process->why_not_now_.empty()) continue;
    const bool is_timed = timed_baselines_.contains(name);
    const bool compiled = find_baseline(name)->is_compiled();
    try {
      process->open_gate(is_timed ? slots : std::span<const std::size_t>(), copies_, is_alone_);
      process->client_.stop();
      // Compilers in its process could make an empty block longer.
      if (calibrator_ == nullptr || (is_compiled && !compiled)) {
        calibrator_ = process.get();
        is_compiled = compiled;
      }
    } catch (const CandidateFailure& failure) {
      process->why_failed_ = fmt::format("{}: {}", failure.cause, failure.message);
      process->client_.stop();
      if (!is_timed) continue;
      verdict_.failed_baselines[name] = process->why_failed_;
      timed_baselines_.erase(name);
    } catch (const NoSuchTimes& none) {
      process->client_.stop();
      const bool may_succeed = (!copies_ && may_copy(none.flag)) ||
                               (none.flag == "gate_synchronizes" && slots.size() > 1);
      if (!compiled || may_succeed || timed_baselines_.size() < 2) throw;
      verdict_.failed_baselines[name] = fmt::format("its calls cannot be queued ({})", none.flag);
      timed_baselines_.erase(name);
    }
  }
  if (calibrator_ == nullptr) throw NoSuchTimes{"gate_no_baseline"};
  with_baseline(*calibrator_, [this](Evaluation& process) {
    if (!is_alone_) gate_costs_ = process.gate_costs();
    // All subjects need equal probes: one that is too short would not see other processes in a
    // baseline's block.
    for (const auto& [name, baseline] : *baselines_)
      baseline->gate_costs_.slice_ms = gate_costs_.slice_ms;
    if (is_alone_) empty_call_ms_ = process.empty_call_ms();
  });
  open_gate(slots, copies_, is_alone_);
  stop_subjects();
}

bool Evaluation::open_gates() {
  gate_slots_ = problem_.timed_slots();
  copies_ = is_alone_ = false;
  choose_baselines();
  if (problem_.follows_calls(gate_slots_.front())) {
    flag("gate_keeps_state");
    return true;
  }
  while (true) {
    try {
      open_all(gate_slots_);
      gate_slots_.resize(calls_of_block());
      return false;
    } catch (const NoSuchTimes& none) {
      stop_subjects();
      if (!copies_ && may_copy(none.flag)) {
        copies_ = true;
        flag("reuses_output");
      } else if (none.flag == "gate_synchronizes" && gate_slots_.size() > 1) {
        // Fewer calls may fit into the queue of a stream.
        gate_slots_.resize((gate_slots_.size() + kFewerCalls - 1) / kFewerCalls);
      } else if (is_made_alone(none.flag)) {
        flag(none.flag);
        return true;
      } else {
        throw;
      }
    }
  }
}

bool Evaluation::is_made_alone(std::string_view why) {
  constexpr std::string_view kWhys[] = {
      "gate_unsupported", "gate_synchronizes", "gate_inputs_written", "gate_outputs_elsewhere",
      "gate_failed",      "gate_no_room",      "gate_blind"};
  return std::ranges::find(kWhys, why) != std::end(kWhys);
}

void Evaluation::open_alone() {
  is_alone_ = true;
  copies_ = false;
  single_times_.clear();
  stop_subjects();
  open_all({});
}

std::size_t Evaluation::calls_of_block() const {
  const auto calls = static_cast<double>(gate_slots_.size());
  double least_ms = gate_->calls_ms, most_ms = gate_->calls_ms;
  for (const auto& [baseline, process] : timed_baselines_) {
    const double ms = process->gate_->calls_ms;
    least_ms = std::min(least_ms, ms);
    most_ms = std::max(most_ms, ms);
  }
  const double enough =
      std::min(kEnoughBlock_ms * calls / least_ms, kMostBlock_ms * calls / most_ms);
  return static_cast<std::size_t>(std::ceil(std::clamp(enough, 1.0, calls)));
}

}  // namespace kbench::worker

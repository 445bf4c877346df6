// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Preparations for the first timed block behind a gate: memory, calls with an open gate, the costs
// of an empty block, and the number of calls in a block.
namespace kbench::worker {
namespace {

using protocol::MessageType;

constexpr double kGateLimit_s = 60;
/// Number of empty blocks that measure GateCosts.
constexpr int kEmptyBlocks = 5;
/// If this many of them were disturbed, others use the GPU.
constexpr int kDisturbedBlocks = 2;
/// If a block cannot be queued, its number of calls is divided by this.
constexpr std::size_t kFewerCalls = 4;
/// A block needs no more calls if it takes kEnoughBlock_ms for each subject. No subject's block
/// should take above kMostBlock_ms, but it has at least one call.
constexpr double kEnoughBlock_ms = 8, kMostBlock_ms = 100;
constexpr std::size_t kLeastOutputs_bytes = std::size_t{256} << 20;

}  // namespace

SharedBuffer Evaluation::output_memory(std::size_t calls) {
  auto& device = problem_.device();
  std::size_t inputs = 0, outputs = 0;
  for (const BoundTensor& tensor : request_.plan.tensors) {
    if (tensor.role == BoundTensor::Role::kInput) inputs += tensor.info.bytes();
    if (tensor.role == BoundTensor::Role::kOutput) outputs += tensor.info.bytes();
  }
  // torch's allocator leaves some of it unused, and calls need memory for temporaries.
  std::size_t wanted = kLeastOutputs_bytes + 2 * calls * outputs + 8 * (inputs + outputs);
  if (request_.kind == CandidateKind::kKernel) wanted = 1;
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

void Evaluation::open_gate(std::span<const std::size_t> slots, bool copies) {
  client_.resume();
  if (request_.baseline && !watch_) {
    watch_.emplace(verdict_.phases_s);
    client_.receive(MessageType::kLoaded, request_.load_limit_s, "loading");
  }
  // In order, so that the trials' slots come first: timed slots use their models.
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) share(slot);
  if (!gate_) {
    auto gate = std::make_unique<Gate>();
    gate->outputs = output_memory(slots.size());
    gate_ = std::move(gate);
    const protocol::GateBody body{gate_->outputs.size_bytes()};
    client_.send(MessageType::kGate, {reinterpret_cast<const char*>(&body), sizeof body},
                 {gate_->clock.fd(), gate_->outputs.fd()});
    client_.receive(MessageType::kMapped, kGateLimit_s, "mapping its gate");
  }
  gate_->switches_ms.clear();
  gate_->starts_ms.clear();
  // A baseline's gate may be ready from an earlier candidate.
  if (gate_->ready_calls == slots.size() && gate_->copies == copies) return;
  gate_->ready_calls = 0;
  gate_->copies = copies;
  // The first calls have an open gate, because allocators, lazy loading and autotuners would wait
  // for a closed one.
  for (int i = 0; i < 2; ++i) {
    gate_->queueing_ms = 0;
    const auto start = protocol::Clock::now();
    queue_calls(slots, 0, BlockKind::kTimed);
    if (!gate_->clock.wait_done(call_limit_s() * 1000 * static_cast<double>(slots.size() + 1)))
      throw NoSuchTimes{"gate_synchronizes"};
    const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
    gate_->calls_ms = took.count();
  }
  run_block(slots);
  gate_->ready_calls = slots.size();
}

GateCosts Evaluation::gate_costs() {
  GateCosts costs;
  std::vector<double> switches, runs, starts;
  int disturbed = 0;
  for (int i = 0; i < kEmptyBlocks; ++i) {
    const GatedBlock block = run_block({});
    if (block.worked_ahead || block.worked_on) ++disturbed;
    switches.push_back(block.times.switch_ms);
    runs.push_back(block.times.run_ms);
    starts.push_back(block.start_ms);
  }
  if (disturbed >= kDisturbedBlocks) throw NoSuchTimes{"gpu_shared"};
  costs.switch_ms = median(switches);
  costs.empty_ms = median(runs);
  costs.start_ms = median(starts);
  return costs;
}

void Evaluation::open_gates(std::span<const std::size_t> slots) {
  for (const auto& [baseline, process] : *baselines_) {
    try {
      process->open_gate(slots, copies_);
      gate_costs_ = process->gate_costs();
    } catch (const CandidateFailure& failure) {
      fmt::print(stderr, "kbench judge: the process of {}: {}: {}\n", baseline, failure.cause,
                 failure.message);
      throw NoSuchTimes{"gate_no_baseline"};
    }
  }
  open_gate(slots, copies_);
}

bool Evaluation::opens_gate() {
  const auto& options = problem_.options();
  if (options.clock != protocol::TimeClock::kGate || problem_.device().timing_method() == "wall")
    return false;
  try {
    // Required even if stored times replace the baselines', because a baseline's process measures
    // the costs of a block.
    const auto has_process = [&](const std::string& name) { return baselines_->contains(name); };
    if (baselines_->empty() || !std::ranges::all_of(problem_.baselines(), has_process))
      throw NoSuchTimes{"gate_no_baseline"};
    gate_slots_ = problem_.timed_slots();
    copies_ = is_alone_ = false;
    if (problem_.follows_calls(gate_slots_.front()))
      open_alone("gate_keeps_state");
    else
      queue_what_fits();
    client_.stop();
    return true;
  } catch (const NoSuchTimes& none) {
    flag(none.flag);
    client_.stop();
    return false;
  }
}

void Evaluation::queue_what_fits() {
  while (true) {
    try {
      open_gates(gate_slots_);
      gate_slots_.resize(calls_of_block());
      return;
    } catch (const NoSuchTimes& none) {
      client_.stop();
      if (none.flag == "gate_outputs_elsewhere" && !copies_) {
        copies_ = true;
        flag("reuses_output");
      } else if (none.flag == "gate_synchronizes" && gate_slots_.size() > 1) {
        // Fewer calls may fit into the queue of a stream.
        gate_slots_.resize((gate_slots_.size() + kFewerCalls - 1) / kFewerCalls);
      } else if (none.flag == "gate_synchronizes" || none.flag == "gate_inputs_written") {
        return open_alone(none.flag);
      } else {
        throw;
      }
    }
  }
}

void Evaluation::open_alone(std::string_view why) {
  flag(why);
  is_alone_ = true;
  const auto costs = [](Evaluation& subject) {
    std::vector<double> empty_ms;
    empty_ms.reserve(kEmptyBlocks);
    for (int i = 0; i < kEmptyBlocks; ++i) empty_ms.push_back(subject.run_alone({}).times.run_ms);
    return median(std::move(empty_ms));
  };
  for (const auto& [baseline, process] : *baselines_) {
    process->open_gate({}, false);
    gate_costs_ = process->gate_costs();
    alone_ms_ = costs(*process);
    process->client_.stop();
  }
  open_gate({}, false);
}

std::size_t Evaluation::calls_of_block() const {
  const auto calls = static_cast<double>(gate_slots_.size());
  double least_ms = gate_->calls_ms, most_ms = gate_->calls_ms;
  for (const auto& [baseline, process] : *baselines_) {
    const double ms = process->gate_->calls_ms;
    least_ms = std::min(least_ms, ms);
    most_ms = std::max(most_ms, ms);
  }
  const double enough =
      std::min(kEnoughBlock_ms * calls / least_ms, kMostBlock_ms * calls / most_ms);
  return static_cast<std::size_t>(std::ceil(std::clamp(enough, 1.0, calls)));
}

}  // namespace kbench::worker

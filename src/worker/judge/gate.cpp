// SPDX-License-Identifier: MIT
#include "worker/judge/gate.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "worker/candidate/judged_candidate.hpp"
#include "worker/judge/evaluation.hpp"

// Calls of a block that are queued behind a gate and timed by the judge's clock, while the process
// that queued them is stopped. TIMING.md describes the steps, and what each of them is against.
namespace kbench::worker {
namespace {

using protocol::MessageType;

constexpr double kGateLimit_s = 60;
/// A process that has not queued its calls by then waits for the GPU inside of one.
constexpr double kLeastQueueing_ms = 100, kQueueingFactor = 5;
/// A block takes no longer than that times what it took before the gate was closed.
constexpr double kRunFactor = 20, kLeastRun_ms = 1000;
/// Empty blocks that find out what a block costs.
constexpr int kEmptyBlocks = 5;
constexpr std::size_t kLeastOutputs_bytes = std::size_t{256} << 20;
/// Longer than a time slice of another context: in 3 ms its work is a gap.
constexpr double kProbe_ms = 3;
template <typename T>
T take(std::string_view& body) {
  T value{};
  if (body.size() < sizeof value)
    throw CandidateFailure{Outcome::kCrash, "protocol",
                           "the candidate's process sent a message of wrong size"};
  std::memcpy(&value, body.data(), sizeof value);
  body.remove_prefix(sizeof value);
  return value;
}

CandidateFailure other_place() {
  return {Outcome::kCrash, "protocol", "the candidate's process named outputs that do not exist"};
}

/// The output at a place that a candidate's process named.
at::Tensor view_of(const SharedBuffer& memory, const protocol::OutputPlace& place,
                   const at::Tensor& like) {
  if (place.dims != static_cast<std::uint32_t>(like.dim())) throw other_place();
  std::uint64_t last = 0;  // element
  for (std::int64_t i = 0; i < like.dim(); ++i) {
    const std::int64_t stride = place.strides[i];
    if (stride < 0 || stride > like.numel()) throw other_place();
    last += static_cast<std::uint64_t>((like.size(i) - 1) * stride);
  }
  const std::uint64_t bytes = (last + 1) * like.element_size();
  if (place.offset_bytes > memory.size_bytes() || bytes > memory.size_bytes() - place.offset_bytes)
    throw other_place();
  return at::from_blob(memory.base() + place.offset_bytes, like.sizes(),
                       at::IntArrayRef(place.strides, like.dim()), like.options());
}

double median_of(std::vector<double> values) {
  return values.empty() ? 0 : median(std::move(values));
}

}  // namespace

std::vector<protocol::OutputPlace> Evaluation::take_queued(protocol::Message& message) {
  std::string_view body = message.body;
  const auto head = take<protocol::QueuedBody>(body);
  if (head.refused != 0)
    throw NoSuchTimes{protocol::kGateRefusals[std::min<std::size_t>(
        head.refused - 1, std::size(protocol::kGateRefusals) - 1)]};
  std::vector<protocol::OutputPlace> places;
  for (std::uint32_t i = 0; i < head.outputs; ++i)
    places.push_back(take<protocol::OutputPlace>(body));
  return places;
}

std::vector<protocol::OutputPlace> Evaluation::queue_calls(std::span<const std::size_t> slots,
                                                           double limit_ms, bool traced) {
  const Poison poison = poisons_.next_timed();
  for (const std::size_t slot : slots) sets_[slot].poison = poison;
  const double calls_s =
      call_limit_s() * static_cast<double>(std::max<std::size_t>(1, slots.size()));
  const protocol::QueueBody head{static_cast<std::uint32_t>(slots.size()),
                                 gate_->clock.next_block(), calls_s, poison, traced ? 1u : 0u};
  std::string body(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::size_t slot : slots) {
    const auto index = static_cast<std::uint32_t>(slot);
    body.append(reinterpret_cast<const char*>(&index), sizeof index);
  }
  freeze(false);
  refuse_running_stopped();
  if (limit_ms <= 0) gate_->clock.release();
  const auto start = protocol::Clock::now();
  channel_.send(MessageType::kQueue, body);
  protocol::Message message;
  bool is_late = false;
  if (limit_ms > 0) {
    const auto by = start + std::chrono::microseconds(static_cast<long long>(limit_ms * 1000));
    const auto status = channel_.receive(message, by);
    is_late = status == protocol::ReceiveStatus::kTimeout;
    if (!is_late)
      take_received(status, MessageType::kQueued, message, limit_ms / 1000, "queueing");
    else
      gate_->clock.release();
  }
  if (limit_ms <= 0 || is_late)
    wait_for(MessageType::kQueued, message, patience_s(calls_s), "being timed");
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  gate_->queueing_ms = std::max(gate_->queueing_ms, took.count());
  try {
    auto places = take_queued(message);
    if (is_late) throw NoSuchTimes{"gate_synchronizes"};
    return places;
  } catch (const NoSuchTimes&) {
    gate_->clock.release();
    gate_->clock.wait_done(calls_s * 1000);
    throw;
  }
}

GatedBlock Evaluation::run_block(std::span<const std::size_t> slots, bool traced) {
  auto& device = problem_.device();
  const auto places =
      queue_calls(slots, std::max(kLeastQueueing_ms, kQueueingFactor * gate_->queueing_ms), traced);
  freeze(true);
  // Only now are the inputs drawn: whatever was computed before, it was not their answers. Those of
  // a baseline may be known: they are the last candidate's, whose outputs are still to be compared.
  if (!slots.empty() && !request_.baseline) problem_.refresh_timed(slots.size());
  if (flushes()) device.flush_cache();
  device.synchronize();
  GatedBlock block;
  const auto times = gate_->clock.run(std::max(kLeastRun_ms, kRunFactor * gate_->calls_ms));
  if (!times) throw NoSuchTimes{"gate_synchronizes"};
  block.times = *times;
  if (const auto look = device.look_for_others(kProbe_ms, &block.start_ms))
    block.worked_on = look->taken_ms > 0;
  gate_->switches_ms.push_back(times->switch_ms);
  gate_->starts_ms.push_back(block.start_ms);
  keep_queued(slots, places);
  return block;
}

/// Copies outputs in the process's own memory to where the judge compares them.
void Evaluation::keep_queued(std::span<const std::size_t> slots,
                             const std::vector<protocol::OutputPlace>& places) {
  if (places.empty() || request_.baseline) return;
  std::size_t next = 0;
  for (const std::size_t slot : slots)
    for (at::Tensor& output : outputs_in(slot)) {
      if (next == places.size()) throw other_place();
      output.copy_(view_of(gate_->outputs, places[next++], output));
    }
  if (next != places.size()) throw other_place();
  problem_.device().synchronize();
}

SharedBuffer Evaluation::output_memory(std::size_t calls) {
  auto& device = problem_.device();
  std::size_t inputs = 0, outputs = 0;
  for (const BoundTensor& tensor : request_.plan.tensors) {
    if (tensor.role == BoundTensor::Role::kInput) inputs += tensor.info.bytes();
    if (tensor.role == BoundTensor::Role::kOutput) outputs += tensor.info.bytes();
  }
  // torch's allocator does not use all of it, and calls need memory for more than their outputs.
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

void Evaluation::open_gate(std::span<const std::size_t> slots) {
  freeze(false);
  if (request_.baseline && !watch_) {
    watch_.emplace(verdict_.phases_s);
    protocol::Message message;
    wait_for(MessageType::kLoaded, message, request_.load_limit_s, "loading");
  }
  // Those of trials come first: timed slots use their models.
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) share(slot);
  if (!gate_) {
    auto gate = std::make_unique<Gate>();
    gate->outputs = output_memory(slots.size());
    gate_ = std::move(gate);
    const protocol::GateBody body{gate_->outputs.size_bytes()};
    channel_.send(MessageType::kGate, {reinterpret_cast<const char*>(&body), sizeof body},
                  {gate_->clock.fd(), gate_->outputs.fd()});
    protocol::Message message;
    wait_for(MessageType::kMapped, message, kGateLimit_s, "mapping its gate");
  }
  // With an open gate first: allocators, lazy loading and autotuners would wait for a closed one.
  for (int i = 0; i < 2; ++i) {
    gate_->queueing_ms = 0;
    const auto start = protocol::Clock::now();
    queue_calls(slots, 0);
    if (!gate_->clock.wait_done(call_limit_s() * 1000 * static_cast<double>(slots.size() + 1)))
      throw NoSuchTimes{"gate_synchronizes"};
    const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
    gate_->calls_ms = took.count();
  }
  run_block(slots);
}

GateCosts Evaluation::gate_costs() {
  GateCosts costs;
  std::vector<double> switches, runs, starts;
  for (int i = 0; i < kEmptyBlocks; ++i) {
    const GatedBlock block = run_block({});
    switches.push_back(block.times.switch_ms);
    runs.push_back(block.times.run_ms);
    starts.push_back(block.start_ms);
  }
  costs.switch_ms = median_of(switches);
  costs.empty_ms = median_of(runs);
  costs.start_ms = median_of(starts);
  return costs;
}

bool Evaluation::opens_gate() {
  const auto& options = problem_.options();
  if (options.clock != protocol::TimeClock::kGate || problem_.device().timing_method() == "wall")
    return false;
  try {
    const auto slots = problem_.timed_slots();
    for (const std::string& baseline : problem_.baselines()) {
      const auto process = baselines_->find(baseline);
      if (process == baselines_->end()) throw NoSuchTimes{"gate_no_baseline"};
      try {
        process->second->open_gate(slots);
        gate_costs_ = process->second->gate_costs();
      } catch (const CandidateFailure& failure) {
        fmt::print(stderr, "kbench judge: the process of {}: {}: {}\n", baseline, failure.cause,
                   failure.message);
        throw NoSuchTimes{"gate_no_baseline"};
      }
    }
    if (problem_.baselines().empty()) throw NoSuchTimes{"gate_no_baseline"};
    open_gate(slots);
    freeze(true);
    return true;
  } catch (const NoSuchTimes& none) {
    flag(none.flag);
    freeze(true);
    return false;
  }
}

void Evaluation::note_gate() {
  verdict_.raw_ms["gate costs"] = {gate_costs_.switch_ms, gate_costs_.empty_ms,
                                   gate_costs_.start_ms};
  verdict_.raw_ms["gate switch"] = gate_->switches_ms;
  verdict_.raw_ms["gate start"] = gate_->starts_ms;
}

std::vector<std::size_t> Evaluation::gated_slots() const {
  auto slots = problem_.timed_slots();
  const std::size_t fewest = slots.size() - slots.size() / 4;
  slots.resize(fewest + protocol::random_nonce() % (slots.size() - fewest + 1));
  return slots;
}

void Evaluation::trace_gated_block() {
  const auto slots = gated_slots();
  run_block(slots, true);
  asked_slots_ = slots;
  look_at_timed_outputs();
  check_timed_output(slots[protocol::random_nonce() % slots.size()]);
  freeze(false);
  channel_.send(MessageType::kTrace, {});
  protocol::Message message;
  wait_for(MessageType::kCalled, message, patience_s(call_limit_s()), "being timed");
  freeze(true);
  if (const auto called = called_of(message)) {
    take_noted(*called);
    take_class(*called);
  }
}

std::vector<double> Evaluation::time_gated(Evaluation& subject, Block block) {
  std::vector<double> times;
  for (int i = 0; i < block.discarded + block.counted; ++i) {
    const auto slots = gated_slots();
    GatedBlock seen;
    try {
      seen = subject.run_block(slots);
    } catch (const CandidateFailure&) {
      if (&subject == this) throw;
      throw NoSuchTimes{"gate_no_baseline"};
    }
    if (seen.worked_on) {
      constexpr int kMostLateBlocks = 2;
      if (++subject.gate_->late_blocks >= kMostLateBlocks) {
        if (&subject == this)
          throw CandidateFailure{Outcome::kCheat, "late_work",
                                 "the GPU still worked for the candidate after it had reported the "
                                 "end of its calls"};
        throw NoSuchTimes{"gpu_shared"};
      }
      --i;
      continue;
    }
    times.push_back(gated_ms(seen, gate_costs_) / static_cast<double>(slots.size()));
    if (&subject != this || is_aside_) continue;
    refuse_written(slots);
    asked_slots_ = slots;
    look_at_timed_outputs();
  }
  return times;
}

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#include "worker/judge/gate.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "worker/candidate/judged_candidate.hpp"
#include "worker/judge/evaluation.hpp"

// Calls of a block that are queued behind a gate. The judge's clock times them while the process
// that queued them is stopped. TIMING.md describes the steps, and the cheat that each rule
// prevents.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Limits for queueing a block. A process that takes longer waits for the GPU inside of a call.
constexpr double kLeastQueueing_ms = 100, kQueueingFactor = 5;
/// Limits for a block, relative to its time with an open gate.
constexpr double kRunFactor = 20, kLeastRun_ms = 1000;
/// Longer than a time slice of another context, so that its work is a gap in the probe's readings.
constexpr double kProbe_ms = 3;
/// The same, relative to the measured time slice.
constexpr double kProbeSlices = 1.25;
/// In other blocks the probe only shows when the judge's kernel starts.
constexpr double kStart_ms = 0.01;
/// For how long a kernel of a baseline's process keeps the GPU busy, and the judge watches it.
constexpr std::uint32_t kSpin_ms = 20;
constexpr double kLook_ms = 4;
/// The start of a kernel takes less, a time slice more.
constexpr double kLeastSlice_ms = 1;

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

/// The output at a place that a candidate's process reported. Throws CandidateFailure if the place
/// is not inside of the memory.
at::Tensor view_of(const SharedBuffer& memory, const protocol::OutputPlace& place,
                   const at::Tensor& like) {
  if (place.dims > protocol::OutputPlace::kMaxDims ||
      place.dims != static_cast<std::uint32_t>(like.dim()))
    throw other_place();
  std::uint64_t last = 0;  // index of the last element
  for (std::int64_t i = 0; i < like.dim(); ++i) {
    const std::int64_t stride = place.strides[static_cast<std::size_t>(i)];
    if (stride < 0 || stride > like.numel()) throw other_place();
    last += static_cast<std::uint64_t>((like.size(i) - 1) * stride);
  }
  const std::uint64_t bytes = (last + 1) * static_cast<std::uint64_t>(like.element_size());
  if (place.offset_bytes > memory.size_bytes() || bytes > memory.size_bytes() - place.offset_bytes)
    throw other_place();
  return at::from_blob(memory.base() + place.offset_bytes, like.sizes(),
                       at::IntArrayRef(place.strides, place.dims), like.options());
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
                                                           double limit_ms, BlockKind kind) {
  const Poison poison = poisons_.next_timed();
  for (const std::size_t slot : slots) sets_[slot].poison = poison;
  const auto calls = static_cast<std::uint32_t>(slots.size());
  const double calls_s = call_limit_s() * std::max(1u, calls);
  const bool alone = kind == BlockKind::kAlone || kind == BlockKind::kAloneTraced;
  const bool traced = kind == BlockKind::kTraced || kind == BlockKind::kAloneTraced;
  const protocol::QueueBody head{
      calls,  gate_->clock.next_block(), calls_s, poison,
      traced, gate_->copies || alone,    alone,   kind == BlockKind::kSpinning ? kSpin_ms : 0};
  std::string body(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::size_t slot : slots) {
    const auto index = static_cast<std::uint32_t>(slot);
    body.append(reinterpret_cast<const char*>(&index), sizeof index);
  }
  client_.resume();
  client_.refuse_running_stopped();
  if (limit_ms <= 0) gate_->clock.release();
  const auto start = protocol::Clock::now();
  client_.send(MessageType::kQueue, body);
  std::optional<protocol::Message> message;
  if (limit_ms > 0)
    message = client_.receive_in_time(MessageType::kQueued, limit_ms / 1000, "queueing");
  const bool is_late = limit_ms > 0 && !message;
  if (is_late) gate_->clock.release();
  if (!message) message = client_.receive(MessageType::kQueued, patience_s(calls_s), "being timed");
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  if (!is_late) gate_->queueing_ms = std::max(gate_->queueing_ms, took.count());
  try {
    auto places = take_queued(*message);
    if (is_late) throw NoSuchTimes{"gate_synchronizes"};
    return places;
  } catch (const NoSuchTimes& none) {
    // Otherwise something was queued, if only the completion word.
    const bool is_refused = none.flag == "gate_unsupported" || none.flag == "gate_inputs_written";
    gate_->clock.release();
    if (!is_refused) gate_->clock.wait_done(calls_s * 1000);
    throw;
  }
}

std::vector<protocol::EncryptionKey> Evaluation::draw_encrypted(
    std::span<const std::size_t> slots) {
  // A baseline may know its inputs. They stay those of the candidate's last block, because that
  // block's outputs are still to be compared.
  if (request_.baseline) return {};
  std::vector<protocol::EncryptionKey> keys(slots.size());
  for (auto& key : keys) key = {protocol::random_nonce(), protocol::random_nonce()};
  problem_.refresh_timed(slots, keys);
  return keys;
}

bool Evaluation::decrypt_inputs(std::span<const std::size_t> slots,
                                std::span<const protocol::EncryptionKey> keys) {
  auto& device = problem_.device();
  device.synchronize();
  device.start_guard();
  for (std::size_t i = 0; i < keys.size(); ++i)
    problem_.slot_set(slots[i]).encrypt_inputs(device, keys[i]);  // the second call decrypts
  // The same work for a baseline, whose inputs stay: the GPU's clock and cache are then the same.
  if (keys.empty())
    for (const std::size_t slot : slots)
      for (int i = 0; i < 2; ++i) problem_.slot_set(slot).encrypt_inputs(device, {1, 1});
  if (flushes()) device.flush_cache();
  device.finish_queued();
  return device.end_guard();
}

GatedBlock Evaluation::run_queued(std::span<const std::size_t> slots,
                                  std::span<const protocol::EncryptionKey> keys, double probe_ms) {
  GatedBlock seen;
  seen.worked_ahead = !decrypt_inputs(slots, keys);
  const auto times = gate_->clock.run(std::max(kLeastRun_ms, kRunFactor * gate_->calls_ms));
  if (!times) {
    gate_->clock.release();
    throw NoSuchTimes{"gate_synchronizes"};
  }
  seen.times = *times;
  if (const auto look = problem_.device().look_for_others(probe_ms, &seen.start_ms))
    seen.worked_on = look->taken_ms > 0;
  return seen;
}

GatedBlock Evaluation::run_alone(std::span<const std::size_t> slot, BlockKind kind) {
  client_.stop();
  const auto keys = draw_encrypted(slot);
  GatedBlock seen;
  seen.worked_ahead = !decrypt_inputs(slot, keys);
  const bool is_probed = slot.empty() || protocol::random_nonce() % 2 == 0;
  const auto start = protocol::Clock::now();
  queue_calls(slot, 0, kind);
  const double limit_s = call_limit_s();
  if (!gate_->clock.wait_done(std::max(kLeastRun_ms, 1000 * limit_s))) {
    throw CandidateFailure{Outcome::kTimeout, "execution_limit",
                           fmt::format("being timed took longer than {:.3g} s", limit_s)};
  }
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  if (const auto look = problem_.device().look_for_others(probe_ms(is_probed), &seen.start_ms))
    seen.worked_on = look->taken_ms > 0;
  seen.times.run_ms = took.count() + seen.start_ms;
  client_.stop();
  keep_queued(slot, {});
  return seen;
}

double Evaluation::time_slice_ms() {
  if (gate_->slice_ms > 0) return gate_->slice_ms;
  queue_calls({}, kLeastQueueing_ms, BlockKind::kSpinning);
  client_.stop();
  gate_->clock.release();
  double start_ms = 0;
  const auto look = problem_.device().look_for_others(kLook_ms, &start_ms);
  gate_->clock.wait_done(kLeastRun_ms);
  // The judge's kernel may also have had to wait for its first turn.
  if (look) gate_->slice_ms = std::max(look->taken_ms, start_ms > kLeastSlice_ms ? start_ms : 0);
  if (look && gate_->slice_ms == 0) throw NoSuchTimes{"gate_blind"};
  return gate_->slice_ms;
}

double Evaluation::probe_ms(bool is_probed) const {
  return is_probed ? std::max(kProbe_ms, kProbeSlices * gate_costs_.slice_ms) : kStart_ms;
}

GatedBlock Evaluation::run_block(std::span<const std::size_t> slots, BlockKind kind) {
  const auto places =
      queue_calls(slots, std::max(kLeastQueueing_ms, kQueueingFactor * gate_->queueing_ms), kind);
  client_.stop();
  // The inputs are drawn after the process has stopped, so it cannot have computed their answers.
  const auto keys = draw_encrypted(slots);
  // Chosen at random, so no process can know which of its blocks have a long probe.
  const bool is_probed = slots.empty() || protocol::random_nonce() % 2 == 0;
  const GatedBlock block = run_queued(slots, keys, probe_ms(is_probed));
  gate_->switches_ms.push_back(block.times.switch_ms);
  gate_->starts_ms.push_back(block.start_ms);
  keep_queued(slots, places);
  return block;
}

/// Takes a digest of the outputs after the clock has stopped. Copies outputs in the process's own
/// memory to the buffers where the judge compares them. The process's GPU work could still write to
/// both.
void Evaluation::keep_queued(std::span<const std::size_t> slots,
                             std::span<const protocol::OutputPlace> places) {
  if (request_.baseline) return;
  if (places.empty()) {
    for (const std::size_t slot : slots) timed_digests_[slot] = outputs_digest(slot);
    return;
  }
  std::size_t next = 0;
  for (const std::size_t slot : slots) {
    std::vector<at::Tensor> own;
    for (const at::Tensor& output : outputs_in(slot)) {
      if (next == places.size()) throw other_place();
      own.push_back(
          view_of(gate_->outputs, places[next++], output).clone(at::MemoryFormat::Contiguous));
    }
    timed_digests_[slot] = digest_of(own);
    const auto outputs = outputs_in(slot);
    for (std::size_t i = 0; i < own.size(); ++i) outputs[i].copy_(own[i]);
  }
  if (next != places.size()) throw other_place();
  problem_.device().synchronize();
}

}  // namespace kbench::worker

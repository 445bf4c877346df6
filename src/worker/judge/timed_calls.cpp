// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Calls that are made one by one, as the answer to a kTime: those that the judge's clock times on a
// CPU, and those whose records by the GPU are wanted.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Eleven days. Longer times could make sums infinite.
constexpr double kLongestCall_ms = 1e9;

CandidateFailure other_times() {
  return {Outcome::kCrash, "protocol", "the candidate's process sent invalid times"};
}

}  // namespace

bool Evaluation::has_host_code() const { return request_.kind != CandidateKind::kKernel; }

void Evaluation::poison_outputs(std::size_t slot) {
  const Poison poison = sets_[slot].poison = poisons_.next_timed();
  // A process with code of the candidate could omit it.
  if (!has_host_code()) return;
  for (const auto& work : sets_[slot].work)
    problem_.device().fill(work.buffer.data(), poison_byte(poison), work.buffer.size_bytes());
}

protocol::Message Evaluation::make_timed_calls(std::span<const std::uint32_t> slots, bool looks,
                                               bool records) {
  for (const std::uint32_t slot : slots) timed_digests_.erase(slot);
  const double limit_s = call_limit_s() * static_cast<double>(slots.size());
  const protocol::TimeBody head{static_cast<std::uint32_t>(slots.size()),
                                flushes() ? 1u : 0u,
                                limit_s,
                                looks ? 1u : 0u,
                                records ? 1u : 0u,
                                sets_[slots.front()].poison};
  std::string body(reinterpret_cast<const char*>(&head), sizeof head);
  body.append(reinterpret_cast<const char*>(slots.data()), slots.size_bytes());
  client_.send(MessageType::kTime, body);
  return client_.receive(MessageType::kTimes, patience_s(limit_s), "being timed");
}

double Evaluation::time_slot(std::size_t slot, bool looks) {
  poison_outputs(slot);
  problem_.device().synchronize();
  const auto index = static_cast<std::uint32_t>(slot);
  const auto start = protocol::Clock::now();
  client_.resume();
  client_.refuse_running_stopped();
  const protocol::Message message = make_timed_calls({&index, 1}, looks, false);
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  client_.stop();
  if (const auto called = looks ? called_of(message) : std::nullopt) {
    take_noted(*called);
    take_class(*called);
  }
  return took.count();
}

void Evaluation::time_once(std::size_t slot) { time_slot(slot, false); }

double Evaluation::time_call() {
  // The candidate's code cannot distinguish a traced call from another one.
  if (has_host_code() && is_looked_before()) time_fresh_call(true);
  return time_fresh_call(false);
}

double Evaluation::time_fresh_call(bool looks) {
  const std::size_t slot = problem_.timed_slots().front();
  // New inputs: the candidate may have stored answers to those of an earlier call.
  problem_.refresh_timed();
  const double ms = time_slot(slot, looks);
  // Before the reference uses these inputs, because its answers to changed inputs would be wrong.
  refuse_written({&slot, 1});
  asked_slots_ = {slot};
  look_at_timed_outputs();
  return ms;
}

double Evaluation::time_reference() {
  const std::size_t slot = problem_.timed_slots().front();
  InputSet& set = problem_.slot_set(slot);
  set.restore();
  problem_.device().synchronize();
  const auto start = protocol::Clock::now();
  set.call(problem_.host(), set.model());
  problem_.device().synchronize();
  return std::chrono::duration<double, std::milli>(protocol::Clock::now() - start).count();
}

std::optional<DeviceTimes> Evaluation::recorded_times(std::size_t slot, int calls) {
  client_.resume();
  const std::vector<std::uint32_t> slots(static_cast<std::size_t>(calls),
                                         static_cast<std::uint32_t>(slot));
  const auto times = times_in(make_timed_calls(slots, false, true));
  client_.stop();
  if (times.empty() || times.size() % 2 != 0) return std::nullopt;
  std::vector<double> spans, busy;
  for (std::size_t i = 0; i < times.size(); i += 2) {
    spans.push_back(times[i]);
    busy.push_back(times[i + 1]);
  }
  return DeviceTimes{median(std::move(spans)), median(std::move(busy))};
}

std::vector<double> Evaluation::times_in(const protocol::Message& message) {
  std::vector<double> times(message.body.size() / sizeof(double));
  std::memcpy(times.data(), message.body.data(), times.size() * sizeof(double));
  if (!std::ranges::all_of(times, [](double ms) { return ms > 0 && ms < kLongestCall_ms; }))
    throw other_times();
  return times;
}

std::vector<double> Evaluation::times_of(const protocol::Message& message, std::size_t calls) {
  auto times = times_in(message);
  if (times.size() != calls) throw other_times();
  return times;
}

}  // namespace kbench::worker

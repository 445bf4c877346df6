// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "record/baseline.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Blocks of timed calls: the candidate's, whose times its process reports, and the baselines',
// which run in this process unless they are gated.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Eleven days. Longer times could make sums infinite.
constexpr double kLongestCall_ms = 1e9;

CandidateFailure other_times() {
  return {Outcome::kCrash, "protocol", "the candidate's process sent invalid times"};
}

/// During its lifetime, products and convolutions in fp32 may use TF32, if `tf32`.
class MathSpan {
 public:
  MathSpan(ProblemHost& host, bool tf32) : host_(host), before_(tf32 ? host.math_modes() : 0) {
    if (tf32) host_.set_math_modes(before_ | kBothTf32);
    is_set_ = tf32;
  }
  ~MathSpan() {
    if (is_set_) host_.set_math_modes(before_);
  }
  MathSpan(const MathSpan&) = delete;
  MathSpan& operator=(const MathSpan&) = delete;

 private:
  static constexpr std::uint32_t kBothTf32 = 3;  // bits of ProblemHost::math_modes()
  ProblemHost& host_;
  std::uint32_t before_;
  bool is_set_ = false;
};

}  // namespace

int Evaluation::unseen_calls(Block block) const {
  const bool all = tells_its_times() && block.counted > 0;
  return all ? block.discarded + block.counted : block.counted;
}

std::vector<std::size_t> Evaluation::slots_of(Block block) {
  const int unseen = unseen_calls(block);
  std::vector<std::size_t> slots;
  slots.reserve(static_cast<std::size_t>(block.discarded) +
                static_cast<std::size_t>(block.counted));
  for (int i = unseen; i < block.discarded + block.counted; ++i)
    slots.push_back(next_slot_++ % problem_.resident());
  const auto timed = problem_.timed_slots();
  for (int i = 0; i < unseen; ++i)
    slots.push_back(timed[static_cast<std::size_t>(i) % timed.size()]);
  return slots;
}

std::vector<double> Evaluation::time_candidate(Block block) {
  if (has_host_code() && block.counted > 0 && !is_aside_ && is_looked_before())
    gated_ ? trace_gated_block() : look_at_block(block);
  if (clock_ == protocol::TimeClock::kGate) return time_gated(*this, block);
  // New inputs: the candidate may have stored answers to those of an earlier block, or to those
  // that its buffers had at first.
  const auto unseen = static_cast<std::size_t>(unseen_calls(block));
  if (unseen > 0) problem_.refresh_timed(unseen);
  const auto slots = slots_of(block);
  if (!is_aside_) veil_inputs(slots, block);
  auto times = time_walled(slots, block);
  // Before the reference uses these inputs, because its answers to changed inputs would be wrong.
  const auto asked = std::span(slots).last(unseen);
  refuse_written(asked);
  // Only outputs of calls that count in a score are checked.
  if (block.counted > 0 && !is_aside_) {
    asked_slots_.assign(asked.begin(), asked.end());
    look_at_timed_outputs();
  }
  return times;
}

bool Evaluation::veils_inputs() const {
  return !tells_its_times() && request_.lifts_veils && problem_.device().veils();
}

void Evaluation::encrypt_inputs(InputSet& set, const protocol::VeilKey& key) {
  // Encrypts only inputs of the plan, because the candidate's process decrypts only these. Both
  // derive the key from BoundTensor::index.
  for (const BoundTensor& tensor : request_.plan.tensors) {
    if (tensor.role != BoundTensor::Role::kInput) continue;
    const SharedBuffer& source = slot_of(set, tensor).source;
    problem_.device().veil(source.data(), source.size_bytes(), key.of_input(tensor.index));
  }
}

void Evaluation::veil_inputs(std::span<const std::size_t> slots, Block block) {
  veils_.clear();
  // Not for other processes, because the wall-clock bound includes all work of a block.
  if (!veils_inputs() || block.counted == 0) return;
  veils_.resize(slots.size());
  for (auto i = static_cast<std::size_t>(block.discarded); i < slots.size(); ++i) {
    veils_[i] = {protocol::random_nonce(), protocol::random_nonce()};
    encrypt_inputs(problem_.slot_set(slots[i]), veils_[i]);
  }
}

void Evaluation::time_once(std::size_t slot) { time_walled({&slot, 1}, {.discarded = 1}); }

std::vector<double> Evaluation::time_walled(std::span<const std::size_t> slots, Block block,
                                            bool looks) {
  const bool walled = tells_its_times();
  // Discarded calls have a request of their own, so that the judge can read its clock between them
  // and the counted calls.
  const auto discarded = slots.first(walled ? static_cast<std::size_t>(block.discarded) : 0);
  const auto counted = slots.subspan(discarded.size());
  poison_outputs(slots);
  problem_.device().synchronize();
  const auto start = protocol::Clock::now();
  client_.resume();
  client_.refuse_running_stopped();
  // Sends both requests at once. If the process had to wait for the second one, the device would
  // idle, and the next call would take longer. A process that works ahead can guess the second
  // request anyway.
  if (!discarded.empty()) ask_for_times(discarded, false);
  if (!counted.empty()) ask_for_times(counted, looks);
  protocol::Message before, after;
  if (!discarded.empty()) before = await_times(discarded.size());
  const auto middle = discarded.empty() ? start : protocol::Clock::now();
  if (!counted.empty()) after = await_times(counted.size());
  const auto end = protocol::Clock::now();
  client_.stop();
  std::vector<double> times;
  if (!discarded.empty()) times = times_told(before, discarded.size(), false);
  if (counted.empty()) return times;
  const auto counted_times = times_told(after, counted.size(), looks);
  times.insert(times.end(), counted_times.begin(), counted_times.end());
  const std::chrono::duration<double, std::milli> waited = middle - start, took = end - middle;
  if (walled && block.counted > 0 && !looks)
    walls_["candidate"].blocks.push_back(
        {block.discarded, block.counted, waited.count(), took.count()});
  return times;
}

void Evaluation::ask_for_times(std::span<const std::size_t> slots, bool looks) {
  std::string body(sizeof(protocol::TimeBody), '\0');
  const auto veils = std::exchange(veils_, {});
  const protocol::TimeBody head{static_cast<std::uint32_t>(slots.size()),
                                flushes() ? 1u : 0u,
                                times_limit_s(slots.size()),
                                looks ? 1u : 0u,
                                held_ ? 1u : 0u,
                                clock_,
                                veils.empty() ? 0u : 1u,
                                looks ? 0.0 : lead_ms(),
                                sets_[slots.front()].poison};
  std::memcpy(body.data(), &head, sizeof head);
  for (const auto set : slots) {
    const auto index = static_cast<std::uint32_t>(set);
    body.append(reinterpret_cast<const char*>(&index), sizeof index);
  }
  for (const protocol::VeilKey& key : veils)
    body.append(reinterpret_cast<const char*>(&key), sizeof key);
  client_.send(MessageType::kTime, body);
}

double Evaluation::times_limit_s(std::size_t calls) const {
  return call_limit_s() * static_cast<double>(calls);
}

protocol::Message Evaluation::await_times(std::size_t calls) {
  return client_.receive(MessageType::kTimes, patience_s(times_limit_s(calls)), "being timed");
}

std::vector<double> Evaluation::times_told(protocol::Message& message, std::size_t calls,
                                           bool looks) {
  if (held_) take_held(message);
  protocol::CalledBody called{};
  if (looks && message.body.size() >= sizeof called) {
    const std::size_t times_bytes = message.body.size() - sizeof called;
    std::memcpy(&called, message.body.data() + times_bytes, sizeof called);
    message.body.resize(times_bytes);
    take_noted(called);
    take_class(called);
  }
  if (clock_ == protocol::TimeClock::kDevice) return take_device_times(times_in(message), calls);
  return times_of(message, calls);
}

std::vector<double> Evaluation::take_device_times(const std::vector<double>& pairs,
                                                  std::size_t calls) {
  if (pairs.size() < 2 * calls) throw NoSuchTimes{"no_cupti"};
  if (pairs.size() > 2 * calls) throw other_times();
  std::vector<double> times;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    traced_.push_back({pairs[i], pairs[i + 1]});
    times.push_back(problem_.options().score == "busy" ? pairs[i + 1] : pairs[i]);
  }
  return times;
}

void Evaluation::take_held(protocol::Message& message) {
  protocol::HeldBody held{1};
  if (message.body.size() >= sizeof held) {
    const std::size_t before = message.body.size() - sizeof held;
    std::memcpy(&held, message.body.data() + before, sizeof held);
    message.body.resize(before);
  }
  if (held.failed != 0) throw HoldFailed{};
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

bool Evaluation::prepare_baseline(const std::string& baseline) {
  try {
    for (std::size_t slot = 0; slot < problem_.resident(); ++slot)
      problem_.baseline_model(baseline, slot);
    for (const std::size_t slot : problem_.timed_slots()) problem_.baseline_model(baseline, slot);
    return true;
  } catch (const ProblemFailure& failure) {
    verdict_.failed_baselines[baseline] = failure.message;
    return false;
  }
}

std::vector<double> Evaluation::time_baseline(const std::string& baseline, Block block) {
  if (clock_ == protocol::TimeClock::kGate) return time_gated(*baselines_->at(baseline), block);
  const MathSpan span(problem_.host(), find_baseline(baseline)->tf32);
  auto& device = problem_.device();
  const auto slots = slots_of(block);
  std::vector<double> times;
  // Work of a candidate could wait for this block, and end before the block ends or begin after it
  // starts. The probe comes before or after the block at random, so such work cannot avoid it.
  const bool looks = block.counted > 0 && !is_aside_;
  const bool looks_before = protocol::random_nonce() % 2 == 0;
  if (looks && looks_before) look_for_others(baseline_look_);
  auto start = protocol::Clock::now();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i == static_cast<std::size_t>(block.discarded)) start = protocol::Clock::now();
    InputSet& set = problem_.slot_set(slots[i]);
    const auto model = problem_.baseline_model(baseline, slots[i]);
    set.restore();
    if (flushes()) {
      device.flush_cache();
    } else if (veils_inputs()) {
      // Decrypting leaves a candidate's inputs in the cache, as far as they fit.
      encrypt_inputs(set, {1, 1});
      encrypt_inputs(set, {1, 1});
    }
    device.lead(lead_ms());
    const auto call = [&] {
      set.call(problem_.host(), model);
      // As in a candidate's process: a call ends when all of its streams are idle.
      if (tells_its_times()) device.synchronize();
    };
    device.time_by(clock_, call, held_, times);
  }
  if (clock_ == protocol::TimeClock::kDevice) times = take_device_times(times, slots.size());
  if (held_ && device.take_hold_failed()) throw HoldFailed{};
  device.synchronize();
  const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
  if (looks && !looks_before) look_for_others(baseline_look_);
  // A baseline's discarded calls are in no bound, because kbench's own code does not work ahead in
  // them.
  if (tells_its_times() && block.counted > 0 && !is_aside_)
    walls_[baseline].blocks.push_back({0, block.counted, 0, took.count(),
                                       median({times.begin() + block.discarded, times.end()})});
  return times;
}

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#include "worker/timing/gate_clock.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "kbench/error.hpp"
#include "worker/timing/timing.hpp"

namespace kbench::worker {
namespace {

/// In some blocks the GPU needs up to this much longer for the change of contexts.
constexpr double kSwitchSlack_ms = 0.02;
/// In some blocks the judge's kernel starts up to this much later, and after a long block up to
/// this fraction of the block's time.
constexpr double kStartSlack_ms = 0.1, kStartSlackOfRun = 0.02;
/// In the median of all blocks it starts later by at most this much.
constexpr double kMedianSlack_ms = 0.01, kMedianSlackOfRun = 0.01;

std::uint32_t load_word(std::uint32_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

void store_word(std::uint32_t& word, std::uint32_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

protocol::Clock::time_point deadline_in(double limit_ms) {
  return protocol::Clock::now() + std::chrono::duration_cast<protocol::Clock::duration>(
                                      std::chrono::duration<double, std::milli>(limit_ms));
}

double ms_between(protocol::Clock::time_point from, protocol::Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// When the judge saw a word.
struct SeenWord {
  /// Before the last read without it. The judge may have lost its processor after that read.
  protocol::Clock::time_point before;
  protocol::Clock::time_point at;
  bool found = false;

  double blind_ms() const { return ms_between(before, at); }
};

/// Spins, because the time would include a sleep.
SeenWord wait_for_word(std::uint32_t& word, std::uint32_t value,
                       protocol::Clock::time_point deadline) {
  const auto start = protocol::Clock::now();
  SeenWord seen{.before = start, .at = start};
  auto last = start;
  do {
    seen.before = std::exchange(last, seen.at);
    seen.found = load_word(word) == value;
    seen.at = protocol::Clock::now();
  } while (!seen.found && seen.at <= deadline);
  return seen;
}

}  // namespace

double gated_ms(const GatedBlock& block, const GateCosts& costs) {
  const double run_ms = std::max(block.times.run_ms - costs.empty_ms, 0.0);
  const double before_ms = block.times.switch_ms - costs.switch_ms;
  const double after_ms = block.start_ms - costs.start_ms;
  return run_ms + (before_ms > kSwitchSlack_ms ? before_ms : 0) +
         (after_ms > kStartSlack_ms + kStartSlackOfRun * run_ms ? after_ms : 0);
}

double late_end_ms(const std::vector<double>& start_ms, const std::vector<double>& usual_ms,
                   double run_ms) {
  if (start_ms.empty() || usual_ms.empty()) return 0;
  const double late_ms = median(start_ms) - median(usual_ms);
  return late_ms > kMedianSlack_ms + kMedianSlackOfRun * run_ms &&
                 late_ms <= kStartSlack_ms + kStartSlackOfRun * run_ms
             ? late_ms
             : 0;
}

void GateClock::Unmap::operator()(protocol::GateWords* words) const {
  munmap(words, protocol::kGatePageBytes);
}

GateClock::GateClock() : page_(memfd_create("kbench-gate", MFD_CLOEXEC)) {
  void* words = MAP_FAILED;
  if (page_ && ftruncate(page_.value(), protocol::kGatePageBytes) == 0)
    words = mmap(nullptr, protocol::kGatePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                 page_.value(), 0);
  if (words == MAP_FAILED)
    throw Error(std::string("no memory for the words of a gate: ") + std::strerror(errno));
  words_.reset(static_cast<protocol::GateWords*>(words));
}

std::optional<GateTimes> GateClock::run(double limit_ms) const {
  const auto deadline = deadline_in(limit_ms);
  const auto opened = protocol::Clock::now();
  store_word(words_->open, block_);
  const SeenWord ready = wait_for_word(words_->ready, block_, deadline);
  store_word(words_->start, block_);
  if (!ready.found) return std::nullopt;
  const SeenWord done = wait_for_word(words_->done, block_, deadline);
  if (!done.found) return std::nullopt;
  return GateTimes{ms_between(opened, ready.at), ms_between(ready.at, done.at),
                   std::max(ready.blind_ms(), done.blind_ms())};
}

void GateClock::release() const {
  store_word(words_->open, block_);
  store_word(words_->start, block_);
}

bool GateClock::wait_done(double limit_ms) const {
  return wait_for_word(words_->done, block_, deadline_in(limit_ms)).found;
}

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#include "compile/split/work.hpp"

#include <limits>
#include <utility>

#include "compile/split/split.hpp"

namespace kbench {
namespace {

/// About a second of work. The largest real sources (5,000 lines) take less than a fiftieth of it.
constexpr std::size_t kMaxSteps = 100'000'000;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kUncounted = std::numeric_limits<std::size_t>::max();

thread_local std::size_t steps_left = kUncounted;
thread_local std::size_t bytes_left = kUncounted;

void spend(std::size_t& left, std::size_t count, int line) {
  if (left == kUncounted) return;
  if (count > left) {
    left = 0;
    throw SplitRefusal{"too_large",
                       "the source is too complex to split into host code and device code", line};
  }
  left -= count;
}

}  // namespace

SplitWork::SplitWork()
    : outer_steps_(std::exchange(steps_left, kMaxSteps)),
      outer_bytes_(std::exchange(bytes_left, kMaxBytes)) {}

SplitWork::~SplitWork() {
  steps_left = outer_steps_;
  bytes_left = outer_bytes_;
}

void spend_steps(std::size_t steps, int line) { spend(steps_left, steps, line); }

void spend_bytes(std::size_t bytes, int line) { spend(bytes_left, bytes, line); }

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "protocol/timing_method.hpp"

#include <algorithm>

namespace kbench {
namespace {

using protocol::TimeClock;

constexpr TimingMethod kMethods[] = {
    {.name = "auto",
     .meaning = "CUDA events, without the host's launch time if a call does not wait for the GPU",
     .held = true,
     .by_gpu = false},
    {.name = "events", .meaning = "CUDA events, with the host's launch time", .by_gpu = false},
    {.name = "cupti",
     .meaning = "the GPU's own records of each call",
     .clock = TimeClock::kDevice,
     .held = true},
    {.name = "gate",
     .meaning = "the judge's own clock, with calls queued behind a gate; else as auto",
     .clock = TimeClock::kGate,
     .held = true},
    {.name = "wall", .meaning = "how long a caller waits", .clock = TimeClock::kHost},
    {.name = "none", .meaning = "correctness only", .timed = false, .by_gpu = false},
};

}  // namespace

std::span<const TimingMethod> timing_methods() { return kMethods; }

const TimingMethod* find_timing_method(std::string_view name) {
  const auto found = std::ranges::find(kMethods, name, &TimingMethod::name);
  return found == std::end(kMethods) ? nullptr : &*found;
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "protocol/timing_method.hpp"

#include <algorithm>

namespace kbench {
namespace {

using protocol::TimeClock;

constexpr TimingMethod kMethods[] = {
    {.name = "auto",
     .meaning = "by events, and what launching from the host costs is left out where a call does "
                "not wait for the GPU",
     .held = true,
     .by_gpu = false},
    {.name = "events", .meaning = "it never is", .by_gpu = false},
    {.name = "cupti",
     .meaning = "by the GPU's records of each call",
     .clock = TimeClock::kDevice,
     .held = true},
    {.name = "graph",
     .meaning = "calls on several inputs as one CUDA graph, of kernel candidates that it can hold",
     .clock = TimeClock::kGraph,
     .held = true},
    {.name = "wall", .meaning = "what a caller waits", .clock = TimeClock::kHost},
    {.name = "none", .meaning = "correctness alone", .timed = false, .by_gpu = false},
};

}  // namespace

std::span<const TimingMethod> timing_methods() { return kMethods; }

const TimingMethod* find_timing_method(std::string_view name) {
  const auto found = std::ranges::find(kMethods, name, &TimingMethod::name);
  return found == std::end(kMethods) ? nullptr : &*found;
}

}  // namespace kbench

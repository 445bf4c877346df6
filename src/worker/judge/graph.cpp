// SPDX-License-Identifier: MIT
#include <algorithm>

#include "worker/judge/evaluation.hpp"

// Times of calls that are replayed as a CUDA graph: of kernels of a few microseconds, with nothing
// of the host between them. A graph is replayed once on inputs that nobody has seen: in a second
// replay kernels would meet the contents of the first.
namespace kbench::worker {

std::vector<std::size_t> Evaluation::replayed_slots(bool counts) const {
  if (counts) return problem_.timed_slots();
  std::vector<std::size_t> slots(problem_.resident());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) slots[slot] = slot;
  return slots;
}

std::vector<double> Evaluation::replay_candidate(Block block) {
  std::vector<double> times;
  for (int i = 0; i < block.discarded + block.counted; ++i) {
    const bool counts = i >= block.discarded;
    const auto slots = replayed_slots(counts);
    if (counts) problem_.refresh_timed(slots.size());
    times.push_back(time_walled(slots, {0, static_cast<int>(slots.size())}).front());
    if (!counts) continue;
    refuse_written(slots);
    asked_slots_ = slots;
    look_at_timed_outputs();
  }
  return times;
}

std::vector<double> Evaluation::replay_baseline(const std::string& baseline, Block block) {
  auto& device = problem_.device();
  std::vector<double> times;
  try {
    for (int i = 0; i < block.discarded + block.counted; ++i) {
      const auto slots = replayed_slots(i >= block.discarded);
      const auto graph = problem_.baseline_graph(baseline, slots);
      for (const std::size_t slot : slots) problem_.slot_set(slot).restore();
      if (flushes()) device.flush_cache();
      const double ms = device.time_ms([&] { graph(); }, held_);
      times.push_back(ms / static_cast<double>(slots.size()));
    }
  } catch (const ProblemFailure&) {
    throw NoSuchTimes{"no_graph"};  // it waits for the device inside, or is a graph already
  }
  if (held_) device.take_hold_failed();
  device.synchronize();
  return times;
}

}  // namespace kbench::worker

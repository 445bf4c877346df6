// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <utility>

#include "ptx/launch/async.hpp"
#include "ptx/machine/divergence.hpp"
#include "ptx/machine/exec.hpp"
#include "ptx/machine/joins.hpp"
#include "ptx/machine/observer.hpp"

// Scheduling inside a warp. The fragment at the deepest call and lowest address runs first, so
// lanes meet again where a branch ends. A fragment yields after a bound, so a lane that waits for
// another lane of its warp makes progress.
namespace kbench::ptx {
namespace {

constexpr std::uint64_t kTurn = 4096;  // instructions before a fragment yields to the others

const Instr* never() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): behind all others, and never followed
  return reinterpret_cast<const Instr*>(std::numeric_limits<std::uintptr_t>::max());
}

bool mergeable(const Fragment& fragment) {
  return fragment.wait == Wait::kReady || fragment.wait == Wait::kConverge;
}

void merge_equal(std::vector<Fragment>& fragments) {
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (!mergeable(fragments[i])) continue;
    for (std::size_t j = fragments.size() - 1; j > i; --j) {
      Fragment& a = fragments[i];
      const Fragment& b = fragments[j];
      if (!mergeable(b) || a.ip != b.ip || a.frame != b.frame) continue;
      a.mask |= b.mask;
      a.wait = Wait::kReady;
      a.turn = std::min(a.turn, b.turn);
      fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

bool runs_before(const Fragment& a, const Fragment& b) {
  if (a.turn != b.turn) return a.turn < b.turn;
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.ip < b.ip;
}

/// Index of the fragment to run, or -1 if all wait.
int choose(Warp& warp) {
  auto& fragments = warp.fragments;
  if (fragments.size() == 1) return fragments[0].wait == Wait::kReady ? 0 : -1;
  merge_equal(fragments);
  int best = -1;
  for (int i = 0; i < static_cast<int>(fragments.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (fragments[at].wait != Wait::kReady) continue;
    if (best < 0 || runs_before(fragments[at], fragments[static_cast<std::size_t>(best)])) best = i;
  }
  return best;
}

/// The lowest address after the fragment's own at which another fragment of this frame could merge
/// with it.
const Instr* meeting_point(const Warp& warp, std::size_t current) {
  const Fragment& self = warp.fragments[current];
  const Instr* nearest = never();
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& other = warp.fragments[i];
    if (i == current || other.frame != self.frame || !mergeable(other)) continue;
    if (other.ip > self.ip) nearest = std::min(nearest, other.ip);
  }
  return nearest;
}

void enter(Context& c, Warp& warp, std::size_t current) {
  const Fragment& fragment = warp.fragments[current];
  c.warp = &warp;
  c.block = warp.block;
  c.frame = fragment.frame;
  c.base = {fragment.frame->registers.data(), fragment.frame->function->constants.data()};
  c.ip = fragment.ip;
  c.mask = fragment.mask;
  c.full = fragment.mask == warp.live;
  c.merge_ip = meeting_point(warp, current);
  c.wait = Wait::kReady;
  c.polled = false;
}

/// Writes the context back to the fragment; true if the fragment still has lanes.
bool leave(Context& c, Warp& warp, std::size_t current) {
  Fragment& fragment = warp.fragments[current];
  fragment.mask = c.mask;
  fragment.ip = c.ip;
  fragment.frame = c.frame;
  fragment.wait = c.wait;
  fragment.barrier = c.barrier;
  fragment.warp_barrier_mask = c.warp_barrier_mask;
  if (fragment.mask != 0) return true;
  warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(current));
  return false;
}

/// Runs instructions until the fragment's turn ends; returns the rest of `budget`. `tracked`: the
/// warp has a trail.
template <bool observed, bool tracked>
std::uint64_t run_fragment(Context& c, std::uint64_t budget) {
  if (budget == 0) return 0;
  do {
    --budget;
    const Instr& in = *c.ip++;
    if constexpr (observed) c.observer->instruction(c, in);
    (c.full ? in.full : in.masked)(c, in);
    if constexpr (observed) {
      if (c.wait == Wait::kConverge) c.observer->undone(c, in);
    }
    if constexpr (tracked) {
      if (in.join != 0 && c.wait != Wait::kConverge) {
        auto& passes = c.warp->trail->passes[in.join];
        for_lanes(c.mask, [&](unsigned i) { ++passes[i]; });
      }
    }
  } while (c.ip < c.merge_ip && budget != 0);
  return budget;
}

std::uint64_t run_fragment(Context& c, std::uint64_t budget) {
  const bool tracked = c.warp->trail != nullptr;
  if (c.observer != nullptr) {
    return tracked ? run_fragment<true, true>(c, budget) : run_fragment<true, false>(c, budget);
  }
  return tracked ? run_fragment<false, true>(c, budget) : run_fragment<false, false>(c, budget);
}

}  // namespace

SliceEnd run_warp(Context& c, Warp& warp, std::uint64_t budget) {
  while (!warp.fragments.empty()) {
    const int chosen = choose(warp);
    if (chosen < 0) {
      if (!meet(c, warp)) return SliceEnd::kWaiting;
      ++c.executed;
      continue;
    }
    const auto current = static_cast<std::size_t>(chosen);
    enter(c, warp, current);
    const bool alone = warp.fragments.size() == 1;
    const std::uint64_t turn = alone ? budget : std::min(budget, kTurn);
    const std::uint64_t left = run_fragment(c, turn);
    c.executed += turn - left;
    budget -= turn - left;
    if (c.faulted_lanes != 0) settle_faults(c);
    const bool spun = c.spins >= kSpinsPerTurn;
    const bool warp_barrier = c.wait == Wait::kWarpBarrier;
    if (leave(c, warp, current) && !alone && (left == 0 || spun)) {
      warp.fragments[current].turn = ++warp.turns;
    }
    if (warp_barrier) release_warp_barriers(warp);
    if (c.grid->faulted.load(std::memory_order_relaxed) && !may_go_on(c)) c.grid->stop = true;
    if (c.grid->stop.load(std::memory_order_relaxed)) return SliceEnd::kStopped;
    if (spun) {
      c.spins = 0;
      c.parts = false;
      return SliceEnd::kSpinning;
    }
    if (std::exchange(c.parts, false)) return SliceEnd::kParted;
    if (budget == 0) return warp.fragments.empty() ? SliceEnd::kDone : SliceEnd::kBudget;
  }
  return SliceEnd::kDone;
}

void keep_only(Context& c, const Instr& in, std::uint32_t kept) {
  Fragment rest;
  rest.mask = c.mask & ~kept;
  rest.ip = &in;
  rest.frame = c.frame;
  c.warp->fragments.push_back(rest);
  c.mask = kept;
  c.full = false;
}

bool enter_guard(Context& c, const Instr& in) {
  if (in.guard == kNone) return true;
  const std::uint32_t holds = c.predicate_source(in.guard) ^ (in.guard_negated ? kAllLanes : 0U);
  const std::uint32_t chosen = c.mask & holds;
  if (chosen == c.mask) return true;
  if (chosen == 0) return false;
  Fragment rest;
  rest.mask = c.mask & ~chosen;
  rest.ip = c.ip;
  rest.frame = c.frame;
  c.warp->fragments.push_back(rest);
  c.mask = chosen;
  c.full = false;
  c.merge_ip = nullptr;
  return true;
}

namespace {

/// Writes the result of a barrier.red for lanes that were waiting at it.
void finish_reduction(const Barrier& barrier, const Instr& in, std::byte* registers,
                      std::uint32_t mask) {
  const auto kind = static_cast<BarrierResult>(in.aux);
  if (kind == BarrierResult::kNothing) return;
  auto* d = reinterpret_cast<std::uint32_t*>(registers + in.d);
  if (kind == BarrierResult::kCount) {
    for_lanes(mask, [&](unsigned i) { d[i] = barrier.population; });
    return;
  }
  const bool holds =
      kind == BarrierResult::kAll ? barrier.population == barrier.voters : barrier.population != 0;
  *d = (*d & ~mask) | (holds ? mask : 0U);
}

void release(Block& block, unsigned id) {
  Barrier& barrier = block.barriers[id];
  barrier.pending = false;
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0U);
  for (Warp& warp : block.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.wait != Wait::kBarrier || fragment.barrier != id) continue;
      fragment.wait = Wait::kReady;
      finish_reduction(barrier, fragment.ip[-1], fragment.frame->registers.data(), fragment.mask);
    }
  }
}

/// A warp counts as 32 threads once all its live lanes have arrived; barriers with a count need
/// this.
bool complete(const Block& block, const Barrier& barrier) {
  if (barrier.expected == 0) {
    for (std::size_t i = 0; i < block.warps.size(); ++i) {
      if ((block.warps[i].live & ~barrier.arrived[i]) != 0) return false;
    }
    return true;
  }
  std::uint32_t threads = 0;
  for (std::size_t i = 0; i < block.warps.size(); ++i) {
    // A thread that arrived at a barrier with a count and then exited still counts as arrived.
    const std::uint32_t lanes = barrier.arrived[i];
    const bool whole = (block.warps[i].live & ~lanes) == 0 && lanes != 0;
    threads += whole ? kLanes : static_cast<std::uint32_t>(std::popcount(lanes));
  }
  return threads >= barrier.expected;
}

}  // namespace

bool arrive(Context& c, const Instr& in, unsigned id, std::uint32_t expected,
            std::uint32_t predicate) {
  Barrier& barrier = c.block->barriers[id];
  if (!barrier.pending) {
    barrier.pending = true;
    barrier.arrived.assign(c.block->warps.size(), 0U);
    barrier.places.assign(c.block->warps.size(), &in);
    barrier.population = barrier.voters = 0;
  }
  barrier.expected = expected;
  check_arrival(c, in, id);
  barrier.arrived[c.warp->index] |= c.mask;
  if (static_cast<BarrierResult>(in.aux) != BarrierResult::kNothing) {
    barrier.population += static_cast<std::uint32_t>(std::popcount(predicate & c.mask));
    barrier.voters += static_cast<std::uint32_t>(std::popcount(c.mask));
  }
  if (c.observer != nullptr) c.observer->arrives(c, id);
  if (!complete(*c.block, barrier)) return false;
  if (c.observer != nullptr) c.observer->completes(c, id);
  check_missing(c, &in, id);
  finish_reduction(barrier, in, c.base[0], c.mask);
  release(*c.block, id);
  c.merge_ip = nullptr;
  return true;
}

void release_warp_barriers(Warp& warp) {
  for (Fragment& fragment : warp.fragments) {
    if (fragment.wait != Wait::kWarpBarrier) continue;
    std::uint32_t arrived = 0;
    for (const Fragment& other : warp.fragments) {
      const bool same =
          other.wait == Wait::kWarpBarrier && other.warp_barrier_mask == fragment.warp_barrier_mask;
      if (same) arrived |= other.mask;
    }
    if ((fragment.warp_barrier_mask & warp.live & ~arrived) != 0) continue;
    const std::uint32_t mask = fragment.warp_barrier_mask;
    for (Fragment& other : warp.fragments) {
      if (other.wait == Wait::kWarpBarrier && other.warp_barrier_mask == mask) {
        other.wait = Wait::kReady;
      }
    }
  }
}

void exit_lanes(Context& c, std::uint32_t mask) {
  Warp& warp = *c.warp;
  finish_async(warp, mask);
  warp.live &= ~mask;
  c.mask &= ~mask;
  c.full = c.mask == warp.live;
  c.merge_ip = nullptr;
  c.block->live_threads -= static_cast<std::uint32_t>(std::popcount(mask));
  for (auto& frame : warp.frames) frame->lanes &= ~mask;
  for (Fragment& fragment : warp.fragments) {
    if (fragment.wait == Wait::kConverge) fragment.wait = Wait::kReady;
  }
  release_warp_barriers(warp);
  for (unsigned id = 0; id < c.block->barriers.size(); ++id) {
    Barrier& barrier = c.block->barriers[id];
    if (barrier.pending && complete(*c.block, barrier)) {
      if (c.observer != nullptr) c.observer->completes(c, id);
      check_missing(c, nullptr, id);
      release(*c.block, id);
    }
  }
  complete_cluster_barrier(c);
}

Isa host_isa() {
  static const Isa kIsa = [] {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    const char* wish = std::getenv("KBENCH_PTX_ISA");
    const std::string_view limit = wish == nullptr ? "" : wish;
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2") && limit != "base";
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && limit != "avx2";
    return avx512 ? Isa::kAvx512 : avx2 ? Isa::kAvx2 : Isa::kBase;
#else
    return Isa::kBase;
#endif
  }();
  return kIsa;
}

}  // namespace kbench::ptx

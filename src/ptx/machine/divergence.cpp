// SPDX-License-Identifier: MIT
#include "ptx/machine/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "ptx/machine/exec.hpp"
#include "ptx/machine/joins.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

/// Lanes that wait at a barrier, or arrive there now.
struct Waiters {
  const Warp* warp = nullptr;
  u32 lanes = 0;
  const Instr* at = nullptr;
  const Frame* frame = nullptr;
};

const BarrierSite* site_at(const Context& c, const Instr* at) {
  const auto& sites = c.grid->program->sites->of;
  const auto found = sites.find(at);
  return found == sites.end() ? nullptr : &found->second;
}

/// The lanes of `trail` that have counted `more` more in a row than any of the waiting lanes.
u32 ahead_in(u32 row, const Trail& trail, u32 lanes, const Waiters& waiters, u32 more) {
  const auto& waiting = waiters.warp->trail->passes[row];
  u32 most = 0;
  for_lanes(waiters.lanes, [&](unsigned i) { most = std::max(most, waiting[i]); });
  u32 found = 0;
  for_lanes(lanes, [&](unsigned i) { found |= u32{trail.passes[row][i] >= most + more} << i; });
  return found;
}

/// The lanes that have already passed code which the waiting lanes execute only after the barrier.
u32 ahead(const Context& c, const Trail& trail, u32 lanes, const Waiters& waiters) {
  u32 found = 0;
  const Instr* at = waiters.at;
  for (const Frame* frame = waiters.frame; frame != nullptr; frame = frame->caller) {
    if (const BarrierSite* site = site_at(c, at)) {
      for (const u32 row : site->joins) found |= ahead_in(row, trail, lanes, waiters, 1);
      // The waiting lanes have counted their arrival.
      if (site->once) found |= ahead_in(site->own, trail, lanes, waiters, 0);
    }
    at = frame->call;
  }
  return found;
}

/// All lanes at a barrier that must wait there together; those nearest to the kernel's beginning
/// come first.
std::vector<Waiters> waiters_at(const Context& c, const Instr* last, unsigned id) {
  std::vector<Waiters> all;
  const auto add = [&](const Waiters& waiters) {
    if (site_at(c, waiters.at) != nullptr) all.push_back(waiters);
  };
  for (const Warp& warp : c.block->warps) {
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.wait != Wait::kBarrier || fragment.barrier != id) continue;
      add({&warp, fragment.mask, fragment.ip - 1, fragment.frame});
    }
  }
  if (last != nullptr) add({c.warp, c.mask, last, c.frame});
  std::ranges::stable_sort(all, std::greater<>(), [&](const Waiters& waiters) {
    return site_at(c, waiters.at)->distance;
  });
  return all;
}

void report(Context& c, Warp& warp, u32 lanes, const Instr& in, unsigned id) {
  warp.trail->judged |= lanes;
  Warp* const running = std::exchange(c.warp, &warp);
  Finding* entry = nullptr;
  if (note(c, in, FindingKind::kBarrierDivergence, lanes, entry)) {
    describe(c, in, static_cast<unsigned>(std::countr_zero(lanes)),
             fmt::format("goes around barrier {} here without returning, while other "
                         "threads of its block wait there: all threads that have not returned "
                         "have to arrive",
                         id),
             *entry);
  }
  c.warp = running;
}

/// Reports lanes of a warp that wait at the same barrier instruction, but have passed its joins
/// unequally often: some went around it in an earlier iteration.
void check_iterations(Context& c, const Instr& in, unsigned id) {
  Warp& warp = *c.warp;
  if (!warp.trail || site_at(c, &in) == nullptr) return;
  const Waiters arriving{&warp, c.mask, &in, c.frame};
  for (const Fragment& fragment : warp.fragments) {
    if (fragment.wait != Wait::kBarrier || fragment.barrier != id || fragment.ip - 1 != &in) {
      continue;
    }
    const Waiters waiting{&warp, fragment.mask, &in, fragment.frame};
    const u32 lanes = ahead(c, *warp.trail, c.mask & ~warp.trail->judged, waiting) |
                      ahead(c, *warp.trail, fragment.mask & ~warp.trail->judged, arriving);
    if (lanes != 0) report(c, warp, lanes, in, id);
  }
}

/// Remembers the first barrier that waiting lanes have gone around to another one. Warps may meet
/// at different instructions; it matters only if one of them misses a later barrier.
void remember_overtaken(Context& c, const std::vector<Waiters>& waiters) {
  if (c.block->overtaken != nullptr) return;
  const Instr* known = nullptr;
  for (const Waiters& behind : waiters) {
    if (std::exchange(known, behind.at) == behind.at) continue;
    for (const Waiters& other : waiters) {
      if (other.at == behind.at || other.warp == behind.warp) continue;
      if (ahead(c, *other.warp->trail, other.lanes, behind) == 0) continue;
      c.block->overtaken = behind.at;
      return;
    }
  }
}

}  // namespace

void check_arrival(Context& c, const Instr& in, unsigned id) {
  if (!c.grid->watched) return;
  if (c.warp->trail) {
    if (const BarrierSite* site = site_at(c, &in); site != nullptr && site->own != 0) {
      for_lanes(c.mask, [&](unsigned i) { ++c.warp->trail->passes[site->own][i]; });
    }
  }
  Barrier& barrier = c.block->barriers[id];
  const Instr*& place = barrier.places[c.warp->index];
  const u32 others = barrier.arrived[c.warp->index] & c.warp->live & ~c.mask;
  if (others == 0) place = &in;
  if (place == &in) {
    if (others != 0) check_iterations(c, in, id);
    return;
  }
  const Site other = site_of(c, *place, static_cast<unsigned>(std::countr_zero(others)));
  // barrier.sync without .aligned allows divergent warps.
  const std::string& text = other.instruction;
  if (!text.starts_with("bar.") && text.find(".aligned") == std::string::npos) return;
  if (c.warp->trail) c.warp->trail->judged |= c.mask;
  Finding* entry = nullptr;
  if (!note(c, in, FindingKind::kBarrierDivergence, c.mask, entry)) return;
  describe(
      c, in, static_cast<unsigned>(std::countr_zero(c.mask)),
      fmt::format("arrives at barrier {} here, but {} thread{} of its warp arrived elsewhere{}: "
                  "all threads of a warp have to arrive at the same instruction",
                  id, std::popcount(others), std::popcount(others) == 1 ? "" : "s",
                  source_of(c, *place)),
      *entry);
}

void check_missing(Context& c, const Instr* last, unsigned id) {
  if (!c.grid->tracked) return;
  Block& block = *c.block;
  const Barrier& barrier = block.barriers[id];
  const bool whole_block = barrier.expected == 0;
  bool missing = false, elsewhere = false;
  const Instr* place = nullptr;
  for (const Warp& warp : block.warps) {
    missing = missing || (warp.trail->begun & ~warp.live & ~warp.trail->judged) != 0;
    if (barrier.arrived[warp.index] == 0) continue;
    const Instr* const here = barrier.places[warp.index];
    elsewhere = elsewhere || (place != nullptr && here != place);
    place = here;
  }
  if (!missing && !(elsewhere && whole_block)) return;
  const std::vector<Waiters> waiters = waiters_at(c, last, id);
  if (whole_block) remember_overtaken(c, waiters);
  for (Warp& warp : block.warps) {
    const u32 lanes =
        warp.trail->begun & ~warp.live & ~warp.trail->judged & ~barrier.arrived[warp.index];
    for (const Waiters& waiting : waiters) {
      // A barrier with a count needs only the warps that take part.
      if (lanes == 0 || (!whole_block && waiting.warp != &warp)) continue;
      const u32 found = ahead(c, *warp.trail, lanes, waiting);
      if (found == 0) continue;
      report(c, warp, found, block.overtaken != nullptr ? *block.overtaken : *waiting.at, id);
      break;
    }
    if (whole_block) warp.trail->judged |= lanes;
  }
}

}  // namespace kbench::ptx

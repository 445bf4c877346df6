// SPDX-License-Identifier: MIT
#include "ptx/observe/races_shared.hpp"

#include <algorithm>
#include <cstring>

namespace kbench::ptx {
namespace {

/// This many synchronisation addresses are tracked separately; all others share one entry.
constexpr std::size_t kMostPlaces = 1024;

void join(WarpClock& to, const WarpClock& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

std::uint64_t index_in_grid(const Block& block) {
  const auto& grid = block.grid->launch->grid;
  return (std::uint64_t{block.index[2]} * grid[1] + block.index[1]) * grid[0] + block.index[0];
}

}  // namespace

BlockOrdering::BlockOrdering(const Block& block)
    : linear_index(index_in_grid(block)),
      warps_(block.warps.size()),
      words_((block.shared.size() + 3) / 4) {
  for (WarpState& warp : warps_) warp.known.assign(warps_.size(), 0);
}

void BlockOrdering::release_to(WarpClock& clock, unsigned warp) {
  WarpState& state = warps_[warp];
  join(clock, state.known);
  clock[warp] = std::max(clock[warp], state.time);
  state.released = true;
}

void BlockOrdering::acquire(const WarpClock& clock, unsigned warp) {
  join(warps_[warp].known, clock);
}

void BlockOrdering::order(const Context& c, OrderTraits traits) {
  WarpState& warp = warps_[c.warp->index];
  if (warp.acquires) {
    warp.acquires = false;
    acquire(loose_, c.warp->index);
  }
  if (warp.meets || warp.released) {
    warp.meets = warp.released = false;
    ++warp.time;
  }
  if (traits.warp_sync || traits.collective) ++warp.time;
  warp.meets = traits.collective;
  if (traits.fence) warp.fenced = warp.fence_pending = true;
  if (traits.device_fence) device_fenced = device_fence_pending = true;
  if (traits.mbarrier) {
    release_to(loose_, c.warp->index);
    acquire(loose_, c.warp->index);
    warp.acquires = true;
  }
}

void BlockOrdering::arrives(const Context& c, unsigned id) {
  release_to(barriers_[id], c.warp->index);
}

void BlockOrdering::completes(const Context& c, unsigned id) {
  const Barrier& barrier = c.block->barriers[id];
  for (unsigned i = 0; i < warps_.size(); ++i) {
    if (barrier.arrived[i] != 0) acquire(barriers_[id], i);
  }
  barriers_[id].assign(warps_.size(), 0);
}

void BlockOrdering::synchronize_now(const LaneAccess& access, std::uint64_t place) {
  const unsigned index = access.c.warp->index;
  WarpState& warp = warps_[index];
  const bool writes = access.kind != Access::kRead;
  auto found = places_.find(place);
  if (access.traits.strong && access.kind != Access::kWrite) {
    acquire(found == places_.end() ? loose_ : found->second, index);
  }
  if (!writes || !(warp.fenced || access.traits.releases)) return;
  warp.fence_pending = false;
  if (found == places_.end() && places_.size() < kMostPlaces) {
    found = places_.emplace(place, WarpClock()).first;
  }
  release_to(found == places_.end() ? loose_ : found->second, index);
}

bool BlockOrdering::conflicts(const Past& past, const Past& now, const LaneAccess& access) const {
  if ((past.bytes & now.bytes) == 0 || past.thread == now.thread) return false;
  if (past.strong && now.strong) return false;
  const bool one_warp = past.thread / kLanes == now.thread / kLanes;
  return !(one_warp && access.traits.collective) && !before(past, now);
}

bool BlockOrdering::before(const Past& past, const Past& now) const {
  const unsigned warp = past.thread / kLanes;
  if (warp == now.thread / kLanes) return past.time < now.time;
  return warps_[now.thread / kLanes].known[warp] >= past.time;
}

std::uint32_t BlockOrdering::word_at(const Block& block, std::uint64_t index) const {
  std::uint32_t value = 0;
  const std::uint64_t begin = index * 4;
  std::memcpy(&value, block.shared.data() + begin,
              std::min<std::uint64_t>(4, block.shared.size() - begin));
  return value;
}

void BlockOrdering::shared(const LaneAccess& access, const CodeIndex& code) {
  synchronize(access, access.address);
  Past now;
  const WarpState& warp = warps_[access.c.warp->index];
  // A plain write is not part of the release that it makes.
  now.time = warp.time + (warp.released && !access.traits.strong ? 1 : 0);
  now.number = access.number;
  now.thread = static_cast<std::uint16_t>(access.thread());
  now.strong = access.traits.strong;
  const std::uint64_t end = access.address + access.bytes;
  for (std::uint64_t at = access.address / 4; at * 4 < end; ++at) {
    const std::uint64_t first = std::max(at * 4, access.address), last = std::min(at * 4 + 4, end);
    now.bytes = static_cast<std::uint8_t>(((1U << (last - first)) - 1) << (first - at * 4));
    if (access.kind == Access::kRead) {
      read(access, words_[at], now, code);
    } else {
      write(access, at, now, code);
    }
  }
}

void BlockOrdering::read(const LaneAccess& access, Word& word, const Past& now,
                         const CodeIndex& code) {
  // If several threads wrote the same value, the reader may be one of them.
  if (!word.write.many && conflicts(word.write, now, access)) {
    report(access.c, access.in, access.lane, code, word.write, true, false, access.address,
           access.bytes);
  }
  // Two lanes of a warp that read it at this time represent all lanes of that warp.
  const auto stands = [&](const Past& past) {
    return past.time == now.time && past.thread / kLanes == now.thread / kLanes &&
           (past.bytes & now.bytes) == now.bytes && past.strong == now.strong;
  };
  if (stands(word.reads[0]) && (stands(word.reads[1]) || word.reads[0].thread == now.thread)) {
    return;
  }
  Past& first = word.reads[0];
  const bool replaces = first.bytes == 0 || first.thread == now.thread || before(first, now);
  word.reads[replaces ? 0 : 1] = now;
}

void BlockOrdering::write(const LaneAccess& access, std::uint64_t index, const Past& now,
                          const CodeIndex& code) {
  Word& word = words_[index];
  for (const Past& reader : word.reads) {
    if (!conflicts(reader, now, access)) continue;
    report(access.c, access.in, access.lane, code, reader, false, true, access.address,
           access.bytes);
    break;
  }
  Past next = now;
  if (conflicts(word.write, now, access)) {
    rewrites_.push_back({access.c.warp, &access.in, access.lane, index,
                         word_at(*access.c.block, index), now.bytes, word.write, access.bytes});
    next.many = word.write.many;
  }
  if (word.write.thread == now.thread && word.write.time == now.time) {
    next.bytes |= word.write.bytes;
  }
  word.write = next;
  word.reads = {};
}

void BlockOrdering::settle_now(const Context& c, const CodeIndex& code) {
  for (const Rewrite& rewrite : rewrites_) {
    if (rewrite.warp != c.warp) continue;
    std::uint32_t changed = word_at(*c.block, rewrite.word) ^ rewrite.before;
    for (unsigned b = 0; b < 4; ++b) {
      if (((rewrite.bytes >> b) & 1U) == 0) changed &= ~(0xffU << (8 * b));
    }
    if (changed == 0) {
      words_[rewrite.word].write.many = true;
      continue;
    }
    report(const_cast<Context&>(c), *rewrite.in, rewrite.lane, code, rewrite.other, true, true,
           rewrite.word * 4, rewrite.access_bytes);
  }
  rewrites_.clear();
}

void BlockOrdering::report(Context& c, const Instr& in, unsigned lane, const CodeIndex& code,
                           const Past& other, bool other_writes, bool writes, std::uint64_t offset,
                           std::uint64_t bytes) const {
  Finding* entry = nullptr;
  if (!note(c, in, FindingKind::kSharedRace, 1U << lane, entry)) return;
  const std::string place =
      place_text("shared memory", static_cast<std::int64_t>(offset), c.grid->shared_bytes, bytes);
  describe(c, in, lane,
           clash_text(c, code, writes, bytes, place, other.thread, other_writes, other.number),
           *entry);
  entry->region = "shared memory";
  entry->offset_bytes = static_cast<std::int64_t>(offset);
}

}  // namespace kbench::ptx

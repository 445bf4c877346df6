// SPDX-License-Identifier: MIT
#include "ptx/launch/async.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/memory/written.hpp"

namespace kbench::ptx {
namespace {

constexpr std::size_t kFirstRing = 16;
/// After this many consecutive time-outs without other progress in the cluster, it is a deadlock.
constexpr std::uint32_t kTimeOuts = 1U << 16;

LateCopy& at(LateCopies& late, std::uint64_t number) {
  return late.ring[number & (late.ring.size() - 1)];
}

void grow(LateCopies& late) {
  std::vector<LateCopy> ring(std::max(kFirstRing, 2 * late.ring.size()));
  for (std::uint64_t n = late.begin; n < late.end; ++n) ring[n & (ring.size() - 1)] = at(late, n);
  late.ring = std::move(ring);
}

void drop_finished(LateCopies& late) {
  while (late.begin < late.end && at(late, late.begin).mask == 0) ++late.begin;
}

template <std::size_t bytes>
void perform_lanes(Block& block, const LateCopy& copy, std::uint32_t lanes) {
  std::byte* shared = block.shared.data();
  for_lanes(lanes, [&](unsigned i) {
    std::byte* to = shared + copy.to[i];
    if (copy.read[i] == bytes) {
      std::memcpy(to, copy.from[i], bytes);
    } else {
      std::memset(to, 0, bytes);
      if (copy.read[i] != 0) std::memcpy(to, copy.from[i], copy.read[i]);
    }
  });
  if (block.shared_written == nullptr) return;
  for_lanes(lanes, [&](unsigned i) {
    if (has_ones(shared + copy.to[i], bytes)) mark_shared(block, copy.to[i], bytes);
  });
}

void perform(Warp& warp, LateCopy& copy, std::uint32_t lanes) {
  Block& block = *warp.block;
  if (copy.bytes == 16) perform_lanes<16>(block, copy, lanes);
  if (copy.bytes == 8) perform_lanes<8>(block, copy, lanes);
  if (copy.bytes == 4) perform_lanes<4>(block, copy, lanes);
  copy.mask &= ~lanes;
}

}  // namespace

LateCopy& late_copy(Warp& warp) {
  LateCopies& late = warp.late;
  if (late.end - late.begin == late.ring.size()) grow(late);
  return at(late, late.end++);
}

void perform_before(Warp& warp, std::uint32_t lanes, std::uint64_t before) {
  LateCopies& late = warp.late;
  for (std::uint64_t n = late.begin; n < std::min(before, late.end); ++n) {
    LateCopy& copy = at(late, n);
    if ((copy.mask & lanes) != 0) perform(warp, copy, copy.mask & lanes);
  }
  drop_finished(late);
}

void perform_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending) {
  LateCopies& late = warp.late;
  for (std::uint64_t n = late.begin; n < late.end; ++n) {
    LateCopy& copy = at(late, n);
    std::uint32_t due = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      due |= static_cast<std::uint32_t>(late.group[i] - copy.group[i] > pending) << i;
    }
    due &= copy.mask & lanes;
    if (due != 0) {
      perform(warp, copy, due);
    } else if ((lanes & ~copy.mask) == 0) {
      break;  // later entries are of the same lanes and newer
    }
  }
  drop_finished(late);
}

void perform(const BulkCopy& copy) {
  const std::byte* from = copy.from != nullptr ? copy.from : copy.value.data();
  if (copy.reduce != nullptr) return copy.reduce(copy.to, from, copy.bytes);
  if (copy.bytes == 0) return;
  std::memcpy(copy.to, from, copy.bytes);
  if (copy.block == nullptr) return;
  mark_shared(*copy.block, static_cast<std::uint64_t>(copy.to - copy.block->shared.data()),
              copy.bytes);
}

void perform_bulk_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending) {
  BulkGroups& bulk = warp.bulk;
  std::erase_if(bulk.copies, [&](const GroupedCopy& held) {
    const bool due = ((lanes >> held.lane) & 1U) != 0 &&
                     held.group + std::uint64_t{pending} < bulk.group[held.lane];
    if (due) perform(held.copy);
    return due;
  });
}

void finish_async(Warp& warp, std::uint32_t lanes) {
  if (warp.late.begin != warp.late.end) perform_before(warp, lanes, warp.late.end);
  if (warp.bulk.copies.empty()) return;
  for_lanes(lanes, [&](unsigned i) { ++warp.bulk.group[i]; });
  perform_bulk_groups(warp, lanes, 0);
}

namespace {

bool wake(Cluster& cluster) {
  bool any = false;
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      for (Fragment& fragment : warp.fragments) {
        if (fragment.wait != Wait::kMbarrier) continue;
        fragment.wait = Wait::kReady;
        any = true;
      }
    }
  }
  return any;
}

}  // namespace

void wake_waiters(Cluster& cluster) {
  cluster.time_outs = 0;
  wake(cluster);
}

bool time_out(Cluster& cluster) {
  if (cluster.time_outs >= kTimeOuts || !wake(cluster)) return false;
  ++cluster.time_outs;
  return true;
}

}  // namespace kbench::ptx

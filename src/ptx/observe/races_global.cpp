// SPDX-License-Identifier: MIT
#include "ptx/observe/races_global.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/machine/heap.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 kBlockBits = 20, kBlockMask = (u64{1} << kBlockBits) - 1;
/// The last epoch of a block. Its accesses from here on are treated as ordered.
constexpr std::uint8_t kLastEpoch = 255;

/// Byte masks of a read, by the two bits stored for it. A read of a single byte is not stored, so
/// that it cannot seem to conflict with a write of the adjacent byte.
constexpr u64 kReadBytes[] = {0xf, 0x3, 0xc, 0x0};

u64 read_part(u64 bytes) {
  for (u64 part = 0; part < 3; ++part) {
    if (kReadBytes[part] == bytes) return part;
  }
  return 3;
}

/// A word of the shadow memory, unpacked.
struct Shadow {
  u64 writer = 0, write_epoch = 0, bytes = 0;  ///< writer 0: none
  u64 reader = 0, read_epoch = 0, read_bytes = 0;
  bool by_atomic = false;
  bool many = false;  ///< other blocks wrote the same value

  static Shadow of(u64 word) {
    Shadow s;
    s.writer = word & kBlockMask;
    s.write_epoch = (word >> 20) & 0xff;
    s.bytes = (word >> 28) & 0xf;
    s.reader = (word >> 32) & kBlockMask;
    s.read_epoch = (word >> 52) & 0xff;
    s.by_atomic = ((word >> 60) & 1) != 0;
    s.many = ((word >> 61) & 1) != 0;
    s.read_bytes = kReadBytes[word >> 62];
    return s;
  }
  u64 word() const {
    return writer | write_epoch << 20 | bytes << 28 | reader << 32 | read_epoch << 52 |
           u64{by_atomic} << 60 | u64{many} << 61 | read_part(read_bytes) << 62;
  }
};

/// Reads a word that another block may be writing. This is the race that kbench looks for, so it is
/// exempt from thread sanitizer.
[[gnu::no_sanitize_thread]] u32 load_word(u64 address) {
  return *reinterpret_cast<const volatile u32*>(at_address(address));
}

/// Blocks of the largest grids share numbers; 0 stands for no block.
u32 number_of(const BlockOrdering& block) {
  return static_cast<u32>((block.linear_index + 1) & kBlockMask);
}

OtherAccess in_block(const OtherThread& other, u32 number_of_chunk) {
  return {true, other.thread, other.number.value_or(number_of_chunk), other.writes};
}

}  // namespace

GlobalRaces::GlobalRaces(const Grid& grid, const CodeIndex& code)
    : grid_(grid),
      code_(code),
      blocks_(u64{grid.launch->grid[0]} * grid.launch->grid[1] * grid.launch->grid[2]),
      unique_(blocks_ < kBlockMask),
      heap_(grid.program->heap ? reinterpret_cast<u64>(grid.program->heap->data()) : 0) {}

ShadowPage* GlobalRaces::find(u64 page, bool make, PageCache& cache) {
  PageCache::Entry& entry = cache.entries[page % cache.entries.size()];
  if (entry.page == page) {
    if (entry.shadow != nullptr) return entry.shadow;
    if (!make && entry.stamp == pages_made_.load(std::memory_order_relaxed)) return nullptr;
  }
  const u64 stamp = pages_made_.load();
  Shard& shard = shards_[page % kShards];
  const std::lock_guard lock(shard.mutex);
  ShadowPage* shadow = nullptr;
  const auto found = shard.pages.find(page);
  if (found != shard.pages.end()) shadow = found->second.get();
  if (shadow == nullptr && make) {
    shadow = shard.pages.emplace(page, std::make_unique<ShadowPage>()).first->second.get();
    ++pages_made_;
  }
  entry = {page, shadow, stamp};
  return shadow;
}

void GlobalRaces::release(BlockOrdering& block) {
  // The first lane's release includes all that the other lanes did before this instruction.
  if (block.device_released || block.device_epoch == kLastEpoch) return;
  block.device_released = true;
  ++block.device_epoch;
  const std::lock_guard lock(mutex_);
  releases_[number_of(block)].push_back(++clock_);
}

bool GlobalRaces::ordered(u32 block, u64 epoch, const BlockOrdering& now) {
  if (epoch == kLastEpoch) return true;
  const std::lock_guard lock(mutex_);
  const auto found = releases_.find(block);
  return found != releases_.end() && found->second.size() > epoch &&
         found->second[epoch] <= now.device_acquired;
}

void GlobalRaces::access(const LaneAccess& access, BlockOrdering& block, PageCache& cache,
                         std::vector<GlobalRewrite>& rewrites) {
  const bool writes = access.kind != Access::kRead;
  const bool strong = access.traits.strong;
  const Extent& extent = *access.c.extents[access.in.slot];
  const bool checked = extent.writable && extent.begin != heap_;
  if (checked && (!strong || access.traits.atomic)) {
    const u64 end = access.address + access.bytes;
    for (u64 at = access.address / 4 * 4; at < end; at += 4) {
      ShadowPage* page = find(at / kPageBytes, writes, cache);
      if (page == nullptr) continue;
      const u64 first = std::max(at, access.address), last = std::min(at + 4, end);
      const Place place{page, at % kPageBytes / 4,
                        ((u64{1} << (last - first)) - 1) << (first - at)};
      if (writes) {
        write(access, block, place, at, rewrites);
      } else {
        read(access, block, place);
      }
    }
  }
  // Release before the write happens, so that each reader of its value finds the release.
  if (writes && ((strong && (block.device_fenced || access.traits.releases)) ||
                 (!strong && block.device_fence_pending))) {
    block.device_fence_pending = false;
    if (blocks_ > 1) block.release_to_device(access.c.warp->index);
    release(block);
  }
  if (!strong || access.kind == Access::kWrite) return;
  block.device_acquires = true;
  if (!access.traits.silent) block.device_learned = true;
  if (blocks_ > 1) block.acquire_from_device(access.c.warp->index);
}

void GlobalRaces::read(const LaneAccess& access, BlockOrdering& block, const Place& place) {
  std::atomic<u64>& word = place.page->words[place.word].blocks;
  const u64 before = word.load(std::memory_order_relaxed);
  Shadow shadow = Shadow::of(before);
  const u64 self = number_of(block);
  const std::size_t chunk = place.word / 32;
  const Extent& extent = *access.c.extents[access.in.slot];
  const bool other = shadow.writer != 0 && shadow.writer != self;
  if (other && (shadow.bytes & place.bytes) != 0 && !shadow.by_atomic && !shadow.many &&
      !ordered(static_cast<u32>(shadow.writer), shadow.write_epoch, block)) {
    report(access.c, access.in, access.lane, extent, access.address, access.bytes, false,
           {false, static_cast<u32>(shadow.writer),
            place.page->writers[chunk].load(std::memory_order_relaxed), true});
  }
  if (unique_) {
    const WordAccess now{access, block, static_cast<u32>(self), place.bytes};
    if (const auto thread = check_read(now, place.page->words[place.word].threads)) {
      report(access.c, access.in, access.lane, extent, access.address, access.bytes, false,
             in_block(*thread, place.page->writers[chunk].load(std::memory_order_relaxed)));
    }
  }
  const bool again = shadow.reader == self && shadow.read_epoch == block.device_epoch;
  shadow.read_bytes = place.bytes | (again ? shadow.read_bytes : 0);
  shadow.reader = self;
  shadow.read_epoch = block.device_epoch;
  const u64 after = shadow.word();
  if (after != before) word.store(after, std::memory_order_relaxed);
  place.page->readers[chunk].store(access.number, std::memory_order_relaxed);
}

void GlobalRaces::write(const LaneAccess& access, BlockOrdering& block, const Place& place,
                        u64 address, std::vector<GlobalRewrite>& rewrites) {
  std::atomic<u64>& word = place.page->words[place.word].blocks;
  Shadow shadow = Shadow::of(word.load(std::memory_order_relaxed));
  const u64 self = number_of(block);
  const std::size_t chunk = place.word / 32;
  const Extent& extent = *access.c.extents[access.in.slot];
  const bool atomic = access.traits.atomic;
  if (!atomic && shadow.reader != 0 && shadow.reader != self &&
      (shadow.read_bytes & place.bytes) != 0 &&
      !ordered(static_cast<u32>(shadow.reader), shadow.read_epoch, block)) {
    report(access.c, access.in, access.lane, extent, access.address, access.bytes, true,
           {false, static_cast<u32>(shadow.reader),
            place.page->readers[chunk].load(std::memory_order_relaxed), false});
  }
  const auto rewrites_after = [&](const OtherAccess& other) {
    rewrites.push_back({access.c.warp, &access.in, &extent, access.lane, address, place.bytes,
                        load_word(address), other, access.address, access.bytes});
  };
  const bool met = shadow.writer != 0 && shadow.writer != self && (shadow.bytes & place.bytes) != 0;
  // After an atomic counter, a block may know that others are done, even without a fence.
  const bool counted = shadow.by_atomic && (atomic || block.device_acquired != 0);
  bool many = false;
  if (met && !counted && !ordered(static_cast<u32>(shadow.writer), shadow.write_epoch, block)) {
    rewrites_after({false, static_cast<u32>(shadow.writer),
                    place.page->writers[chunk].load(std::memory_order_relaxed), true});
    // Unless the value is known to change, readers are not reported.
    many = true;
  }
  if (unique_) {
    const WordAccess now{access, block, static_cast<u32>(self), place.bytes};
    if (const auto thread = check_write(now, place.page->words[place.word].threads)) {
      const auto& numbers = thread->writes ? place.page->writers : place.page->readers;
      rewrites_after(in_block(*thread, numbers[chunk].load(std::memory_order_relaxed)));
    }
  }
  if (shadow.writer == self && shadow.write_epoch == block.device_epoch) {
    shadow.bytes |= place.bytes;
    many = shadow.many;
  } else {
    shadow.bytes = place.bytes;
  }
  shadow.writer = self;
  shadow.write_epoch = block.device_epoch;
  shadow.by_atomic = atomic;
  shadow.many = many;
  shadow.reader = shadow.read_epoch = shadow.read_bytes = 0;
  word.store(shadow.word(), std::memory_order_relaxed);
  place.page->writers[chunk].store(access.number, std::memory_order_relaxed);
}

void GlobalRaces::settle(Context& c, std::vector<GlobalRewrite>& rewrites) {
  for (const GlobalRewrite& rewrite : rewrites) {
    if (rewrite.warp != c.warp) continue;
    u32 changed = load_word(rewrite.word) ^ rewrite.before;
    for (unsigned b = 0; b < 4; ++b) {
      if (((rewrite.bytes >> b) & 1U) == 0) changed &= ~(0xffU << (8 * b));
    }
    if (changed == 0) continue;
    report(c, *rewrite.in, rewrite.lane, *rewrite.extent, rewrite.address, rewrite.access_bytes,
           true, rewrite.other);
  }
  rewrites.clear();
}

std::string GlobalRaces::describe_race(const Context& c, const std::string& place, u64 bytes,
                                       bool writes, const OtherAccess& other) const {
  if (other.same_block) {
    return clash_text(c, code_, writes, bytes, place, other.by, other.writes, other.number);
  }
  const auto& grid = grid_.launch->grid;
  const u64 linear = u64{other.by} - 1;
  const std::string who = unique_
                              ? fmt::format("block ({}, {}, {})", linear % grid[0],
                                            linear / grid[0] % grid[1], linear / grid[0] / grid[1])
                              : std::string("another block");
  return fmt::format("{} {} bytes at {}, which {} {}{}, and nothing orders the two accesses",
                     writes ? "writes" : "reads", bytes, place, who,
                     other.writes ? "writes" : "reads", code_.source(*grid_.program, other.number));
}

void GlobalRaces::report(Context& c, const Instr& in, unsigned lane, const Extent& extent,
                         u64 address, u64 bytes, bool writes, const OtherAccess& other) {
  Finding* entry = nullptr;
  if (!note(c, in, FindingKind::kGlobalRace, 1U << lane, entry)) return;
  const auto offset = static_cast<std::int64_t>(address - extent.begin);
  const std::string place = place_text(extent.name, offset, extent.bytes, bytes);
  describe(c, in, lane, describe_race(c, place, bytes, writes, other), *entry);
  entry->region = extent.name;
  entry->offset_bytes = offset;
}

}  // namespace kbench::ptx

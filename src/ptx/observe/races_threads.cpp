// SPDX-License-Identifier: MIT
#include "ptx/observe/races_threads.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// An entry of the shadow memory, unpacked. `block` 0: no access recorded.
struct ThreadAccess {
  u64 block = 0, thread = 0, time = 0, number = 0, bytes = 0;
  bool atomic = false;
  bool many = false;  ///< other threads wrote the same value

  static ThreadAccess of(u64 entry) {
    ThreadAccess a;
    a.block = entry & kThreadBlockMask;
    a.thread = (entry >> 20) & 0x3ff;
    a.time = (entry >> 30) & kLastTime;
    a.number = (entry >> 46) & kLastNumber;
    a.bytes = (entry >> 58) & 0xf;
    a.atomic = ((entry >> 62) & 1) != 0;
    a.many = entry >> 63 != 0;
    return a;
  }
  u64 entry() const {
    return block | thread << 20 | time << 30 | number << 46 | bytes << 58 | u64{atomic} << 62 |
           u64{many} << 63;
  }
  bool same_warp(const ThreadAccess& other) const {
    return thread / kLanes == other.thread / kLanes;
  }
  OtherThread as_other(bool writes) const {
    OtherThread other;
    other.thread = static_cast<u32>(thread);
    if (number != kLastNumber) other.number = static_cast<u32>(number);
    other.writes = writes;
    return other;
  }
};

bool before(const ThreadAccess& past, const WordAccess& now) {
  return past.time == kLastTime ||
         now.block.precedes(static_cast<u32>(past.thread), static_cast<u32>(past.time), now.access);
}

bool conflicts(const ThreadAccess& past, const ThreadAccess& self, const WordAccess& now) {
  if (past.block != self.block || past.thread == self.thread) return false;
  if ((past.bytes & self.bytes) == 0) return false;
  return !(past.same_warp(self) && now.access.traits.collective) && !before(past, now);
}

/// How likely a later write conflicts with a read: the last writer often writes the word again.
int rank(const ThreadAccess& read, const ThreadAccess& written) {
  if (read.thread == written.thread) return 0;
  return read.same_warp(written) ? 1 : 2;
}

/// True if the read should take the place of the recorded one; only one is kept.
bool replaces(const ThreadAccess& self, const ThreadAccess& held, const ThreadAccess& written,
              const WordAccess& now) {
  if (held.block != self.block || held.thread == self.thread || before(held, now)) return true;
  const int gain = written.block == self.block ? rank(self, written) - rank(held, written) : 0;
  // The lowest lane writes first, so the read of another lane shows more.
  return gain > 0 || (gain == 0 && held.same_warp(self));
}

void store(std::atomic<u64>& place, u64 entry) { place.store(entry, std::memory_order_relaxed); }

}  // namespace

std::optional<OtherThread> check_read_again(const WordAccess& now, ThreadShadow& shadow) {
  const auto written = ThreadAccess::of(shadow.write.load(std::memory_order_relaxed));
  const auto held = ThreadAccess::of(shadow.read.load(std::memory_order_relaxed));
  ThreadAccess self = ThreadAccess::of(packed(now));
  if (replaces(self, held, written, now)) {
    const bool again =
        held.block == self.block && held.thread == self.thread && held.time == self.time;
    if (again) self.bytes |= held.bytes;
    store(shadow.read, self.entry());
    self.bytes = now.bytes;
  }
  // A plain read may be a hint for a later atomic. If several threads wrote the same value, the
  // reader may be one of them.
  if (written.atomic || written.many || !conflicts(written, self, now)) return std::nullopt;
  return written.as_other(true);
}

std::optional<OtherThread> check_write_again(const WordAccess& now, ThreadShadow& shadow) {
  const auto written = ThreadAccess::of(shadow.write.load(std::memory_order_relaxed));
  const auto read = ThreadAccess::of(shadow.read.load(std::memory_order_relaxed));
  ThreadAccess self = ThreadAccess::of(packed(now));
  std::optional<OtherThread> other;
  // After an atomic counter, a thread may know that others are done, even without a fence.
  const bool counted = written.atomic && (self.atomic || now.block.device_learned);
  if (!counted && conflicts(written, self, now)) {
    other = written.as_other(true);
    // Unless the value is known to change, readers are not reported.
    self.many = true;
  } else if (!self.atomic && conflicts(read, self, now)) {
    other = read.as_other(false);
  }
  if (written.block == self.block && written.thread == self.thread && written.time == self.time) {
    self.bytes |= written.bytes;
    self.many = self.many || written.many;
  }
  store(shadow.write, self.entry());
  if (read.block != 0) store(shadow.read, 0);
  return other;
}

}  // namespace kbench::ptx

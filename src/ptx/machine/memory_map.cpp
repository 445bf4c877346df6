// SPDX-License-Identifier: MIT
#include "ptx/machine/memory_map.hpp"

#include <algorithm>

namespace kbench::ptx {

void MemoryMap::seal() {
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
}

const Extent& MemoryMap::nowhere() {
  static const Extent kNowhere;
  return kNowhere;
}

Lookup MemoryMap::find(std::uint64_t address, std::uint64_t bytes, bool write) const {
  if (extents_.empty()) return {&nowhere(), FaultKind::kIllegalAddress, false};
  const FaultKind out = write ? FaultKind::kIllegalWrite : FaultKind::kIllegalRead;
  const auto next =
      std::upper_bound(extents_.begin(), extents_.end(), address,
                       [](std::uint64_t a, const Extent& extent) { return a < extent.begin; });
  const Extent* after = next == extents_.end() ? nullptr : &*next;
  const Extent* before = next == extents_.begin() ? nullptr : &*std::prev(next);
  const std::uint64_t past =
      before == nullptr ? 0 : address - before->begin;  // offset from the extent before
  if (before != nullptr && past < before->bytes) {
    if (bytes > before->bytes - past || (write && !before->writable)) return {before, out, false};
    return {before, FaultKind::kIllegalAddress, true};
  }
  if (before != nullptr && past - before->bytes < before->red_after) return {before, out, false};
  if (after != nullptr && after->begin - address <= after->red_before) return {after, out, false};
  constexpr std::uint64_t kNear = 1 << 20;  // bytes; a farther extent is not a useful hint
  const bool nearer_after =
      before == nullptr || (after != nullptr && after->begin - address < past - before->bytes);
  const std::uint64_t distance = nearer_after ? after->begin - address : past - before->bytes;
  return {distance > kNear ? &nowhere()
          : nearer_after   ? after
                           : before,
          FaultKind::kIllegalAddress, false};
}

}  // namespace kbench::ptx

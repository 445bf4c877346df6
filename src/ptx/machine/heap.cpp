// SPDX-License-Identifier: MIT
#include "ptx/machine/heap.hpp"

#include <algorithm>

namespace kbench::ptx {

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes > kBytes) return 0;
  bytes = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 16);
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& hole) { return hole.second >= bytes; });
  if (place == free_.end()) return 0;
  const auto [offset, size] = *place;
  free_.erase(place);
  if (size > bytes) free_[offset + bytes] = size - bytes;
  used_[offset] = bytes;
  return base() + offset;
}

bool DeviceHeap::release(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(address - base());
  if (found == used_.end()) return false;
  auto hole = free_.insert(*found).first;
  used_.erase(found);
  const auto next = std::next(hole);
  if (next != free_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole == free_.begin()) return true;
  const auto before = std::prev(hole);
  if (before->first + before->second == hole->first) {
    before->second += hole->second;
    free_.erase(hole);
  }
  return true;
}

}  // namespace kbench::ptx

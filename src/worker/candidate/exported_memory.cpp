// SPDX-License-Identifier: MIT
#include "worker/candidate/exported_memory.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

namespace kbench::worker {
namespace {

/// torch requests multiples of 2 MiB.
constexpr std::size_t kAlignment = std::size_t{2} << 20;

/// Never destroyed, because torch's allocator may outlive all static objects.
struct Exported {
  std::mutex mutex;
  SharedBuffer memory;
  std::map<std::size_t, std::size_t> free, used;  ///< offset → bytes
};

Exported& exported() {
  static auto* exported = new Exported;
  return *exported;
}

}  // namespace

void use_exported_memory(SharedBuffer memory) {
  Exported& all = exported();
  const std::lock_guard lock(all.mutex);
  all.memory = std::move(memory);
  all.used.clear();
  all.free = {{0, all.memory.size_bytes()}};
}

extern "C" void* exported_allocate(std::size_t bytes, int, void*) {
  Exported& all = exported();
  const std::lock_guard lock(all.mutex);
  const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto fits = [size](const auto& range) { return range.second >= size; };
  const auto range = std::ranges::find_if(all.free, fits);
  if (bytes == 0 || range == all.free.end()) return nullptr;
  const auto [offset, free_bytes] = *range;
  all.free.erase(range);
  if (free_bytes > size) all.free.emplace(offset + size, free_bytes - size);
  all.used.emplace(offset, size);
  return all.memory.base() + offset;
}

extern "C" void exported_release(void* memory, std::size_t, int, void*) {
  Exported& all = exported();
  const std::lock_guard lock(all.mutex);
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(memory) - all.memory.base());
  const auto used = all.used.find(offset);
  if (used == all.used.end()) return;
  auto range = all.free.emplace(offset, used->second).first;
  all.used.erase(used);
  if (const auto next = std::next(range);
      next != all.free.end() && range->first + range->second == next->first) {
    range->second += next->second;
    all.free.erase(next);
  }
  if (range == all.free.begin()) return;
  if (const auto before = std::prev(range); before->first + before->second == range->first) {
    before->second += range->second;
    all.free.erase(range);
  }
}

std::optional<std::uint64_t> exported_offset(const void* address, std::size_t bytes) {
  Exported& all = exported();
  const std::lock_guard lock(all.mutex);
  const auto* begin = static_cast<const std::byte*>(address);
  const std::byte* base = all.memory.base();
  if (base == nullptr || begin < base || begin >= base + all.memory.size_bytes() ||
      bytes > static_cast<std::size_t>(base + all.memory.size_bytes() - begin))
    return std::nullopt;
  return static_cast<std::uint64_t>(begin - base);
}

}  // namespace kbench::worker

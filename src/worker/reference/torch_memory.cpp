// SPDX-License-Identifier: MIT
#include "worker/reference/torch_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>

#include "worker/device/device.hpp"
#include "worker/device/hidden_memory.hpp"

namespace kbench::worker {
namespace {

constexpr std::size_t kRedBytes = 512;
/// No two tensors share a page; torch's own allocator aligns to 64 bytes.
constexpr std::size_t kAlignment = 4096;
/// Freed memory stays poisoned and unused until this much is freed, to detect kernels that still
/// use its address.
constexpr std::size_t kQuarantineBytes = 64u << 20;
/// Above the priority of torch's own allocators, so that they do not replace this one.
constexpr std::uint8_t kPriority = 100;

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;

  std::byte* begin() const { return data - kRedBytes; }
  std::size_t whole() const { return whole_pages(bytes + 2 * kRedBytes); }
  bool intact() const {
    const auto untouched = [](const std::byte* zone) {
      return std::all_of(zone, zone + kRedBytes,
                         [](std::byte value) { return value == std::byte{kCanary}; });
    };
    return untouched(begin()) && untouched(data + bytes);
  }
};

/// All blocks of this process. Never destroyed, because tensors may outlive static objects.
class Registry {
 public:
  std::byte* allocate(std::size_t bytes) {
    const std::size_t whole = whole_pages(bytes + 2 * kRedBytes);
    auto* begin = static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
    if (begin == nullptr) throw std::bad_alloc();
    const Block block{begin + kRedBytes, bytes};
    std::memset(begin, kCanary, kRedBytes);
    fill_new_memory(block.data, bytes);
    std::memset(block.data + bytes, kCanary, kRedBytes);
    const std::lock_guard lock(mutex_);
    live_.emplace(block.data, block);
    HiddenMemory::instance().add({begin, whole}, bytes);
    return block.data;
  }

  void release(std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(data);
    if (found == live_.end()) return;
    const Block block = found->second;
    live_.erase(found);
    HiddenMemory::instance().remove(block.begin());
    if (!block.intact()) broken_.push_back(block.bytes);
    std::memset(block.data, kPoison, block.bytes);
    quarantine_.push_back(block);
    quarantined_ += block.whole();
    while (quarantined_ > kQuarantineBytes) {
      quarantined_ -= quarantine_.front().whole();
      std::free(quarantine_.front().begin());
      quarantine_.pop_front();
    }
  }

  std::vector<ptx::Region> regions() {
    const std::lock_guard lock(mutex_);
    std::vector<ptx::Region> regions;
    for (const auto& [data, block] : live_) {
      ptx::Region region;
      region.name = fmt::format("torch tensor of {} bytes", block.bytes);
      region.base = block.data;
      region.size_bytes = block.bytes;
      region.red_zone_before = region.red_zone_after = kRedBytes;
      regions.push_back(std::move(region));
    }
    return regions;
  }

  std::vector<std::size_t> take_broken() {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> broken = std::exchange(broken_, {});
    for (const auto& [data, block] : live_)
      if (!block.intact()) broken.push_back(block.bytes);
    return broken;
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, Block> live_;
  std::deque<Block> quarantine_;
  std::size_t quarantined_ = 0;
  std::vector<std::size_t> broken_;
};

Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

void release(void* data) { registry().release(static_cast<std::byte*>(data)); }

class WatchedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, cpu};
    std::byte* data = registry().allocate(bytes);
    return {data, data, &release, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

void watch_torch_memory() {
  static auto* allocator = new WatchedAllocator;
  c10::SetCPUAllocator(allocator, kPriority);
}

std::vector<ptx::Region> torch_regions() { return registry().regions(); }

std::vector<std::size_t> broken_torch_allocations() { return registry().take_broken(); }

}  // namespace kbench::worker

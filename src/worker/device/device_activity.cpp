// SPDX-License-Identifier: MIT
#include "worker/device/device_activity.hpp"

#include <algorithm>
#include <mutex>

#include "worker/device/cupti_library.hpp"

namespace kbench::worker {
namespace {

constexpr CUpti_ActivityKind kActivityKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

struct Seen {
  std::mutex mutex;
  std::vector<DeviceActivity> activity;
  bool complete = true;
};

/// Never destroyed, because CUPTI's threads may call until the process ends.
Seen& seen() {
  static auto* const kSeen = new Seen;
  return *kSeen;
}

template <typename Record>
DeviceActivity timed(const CUpti_Activity& record) {
  const auto& whole = reinterpret_cast<const Record&>(record);
  DeviceActivity piece;
  piece.start_ns = whole.start;
  piece.end_ns = whole.end;
  return piece;
}

DeviceActivity of_kernel(const CUpti_Activity& record) {
  const auto& kernel = reinterpret_cast<const KernelRecord&>(record);
  auto piece = timed<KernelRecord>(record);
  const auto extent = [](std::int32_t size) { return static_cast<std::uint32_t>(size); };
  piece.kernel = name_of(kernel);
  piece.grid = {extent(kernel.gridX), extent(kernel.gridY), extent(kernel.gridZ)};
  piece.block = {extent(kernel.blockX), extent(kernel.blockY), extent(kernel.blockZ)};
  piece.registers = kernel.registersPerThread;
  piece.static_shared_bytes = extent(kernel.staticSharedMemory);
  piece.dynamic_shared_bytes = extent(kernel.dynamicSharedMemory);
  return piece;
}

void take_activity(const ActivityRecords& records) {
  Seen& all = seen();
  const std::lock_guard lock(all.mutex);
  all.complete = all.complete && records.dropped == 0;
  for_records(records, [&](const CUpti_Activity& record) {
    if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      all.activity.push_back(of_kernel(record));
    else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY)
      all.activity.push_back(timed<CUpti_ActivityMemcpy6>(record));
    else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET)
      all.activity.push_back(timed<CUpti_ActivityMemset4>(record));
  });
}

}  // namespace

std::optional<std::vector<DeviceActivity>> device_activity(const std::function<void()>& work) {
  if (!show_activity_to(take_activity)) return std::nullopt;
  bool enabled = true;
  for (const CUpti_ActivityKind kind : kActivityKinds)
    enabled = enable_activity(kind, true) && enabled;
  // Records of earlier work do not belong to this call.
  flush_activity();
  Seen& all = seen();
  {
    const std::lock_guard lock(all.mutex);
    all.activity.clear();
    all.complete = true;
  }
  const auto disable = [] {
    for (const CUpti_ActivityKind kind : kActivityKinds) enable_activity(kind, false);
  };
  try {
    work();
  } catch (...) {
    disable();
    throw;
  }
  const bool flushed = flush_activity();
  disable();
  const std::lock_guard lock(all.mutex);
  const bool timed = std::ranges::all_of(
      all.activity, [](const DeviceActivity& piece) { return piece.end_ns > piece.start_ns; });
  if (!enabled || !flushed || !all.complete || !timed) return std::nullopt;
  std::ranges::sort(all.activity, {}, &DeviceActivity::start_ns);
  return std::move(all.activity);
}

}  // namespace kbench::worker

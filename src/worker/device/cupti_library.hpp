// SPDX-License-Identifier: MIT
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kbench::worker {

/// kbench reads only fields that later versions have at the same offsets.
using KernelRecord = CUpti_ActivityKernel9;

#define KBENCH_CUPTI_FUNCTIONS(X)   \
  X(cuptiSubscribe)                 \
  X(cuptiUnsubscribe)               \
  X(cuptiEnableCallback)            \
  X(cuptiActivityEnable)            \
  X(cuptiActivityDisable)           \
  X(cuptiActivityFlushAll)          \
  X(cuptiActivityGetNextRecord)     \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityGetNumDroppedRecords)

struct Cupti {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member, in its declaration
#define KBENCH_MEMBER(name) decltype(&::name) name = nullptr;
  KBENCH_CUPTI_FUNCTIONS(KBENCH_MEMBER)
#undef KBENCH_MEMBER
};

/// torch's CUPTI, or the system's of the same CUDA version; null if there is none.
const Cupti* cupti();

/// A buffer that CUPTI has filled.
struct ActivityRecords {
  std::uint8_t* buffer = nullptr;
  std::size_t valid_bytes = 0;
  std::size_t dropped = 0;  ///< records lost since the previous buffer
};

/// Calls `take` with all later records, in CUPTI's threads, until the process ends. Repeated calls
/// for one function have no effect. False if CUPTI is not available.
bool show_activity_to(void (*take)(const ActivityRecords&));
/// Enables or disables records of a kind. CUPTI records them while enabling calls outnumber
/// disabling ones. False if CUPTI fails.
bool enable_activity(CUpti_ActivityKind kind, bool wanted);
/// Waits until the records of all completed work have been passed on.
bool flush_activity();

void for_records(const ActivityRecords& records,
                 const std::function<void(const CUpti_Activity&)>& take);
/// The kernel's mangled name; empty if CUPTI has none.
std::string name_of(const KernelRecord& kernel);

}  // namespace kbench::worker

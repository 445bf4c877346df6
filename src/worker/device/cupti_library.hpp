// SPDX-License-Identifier: MIT
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kbench::worker {

/// What is read of a record has the same place in all versions since.
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

/// The one that torch has brought, or the system's of the same CUDA; null without.
const Cupti* cupti();

/// A buffer of CUPTI's, as full as it got.
struct ActivityRecords {
  std::uint8_t* buffer = nullptr;
  std::size_t valid_bytes = 0;
  std::size_t dropped = 0;  ///< records that were lost meanwhile
};

/// Shows all records to come to `take` as well, in CUPTI's threads, until the process ends; once
/// for each function. False where CUPTI is not to be had.
bool show_activity_to(void (*take)(const ActivityRecords&));
/// Counts who wants records of a kind: there are some while anybody does.
bool enable_activity(CUpti_ActivityKind kind, bool wanted);
/// Waits until all records of what has ended have been shown.
bool flush_activity();

void for_records(const ActivityRecords& records,
                 const std::function<void(const CUpti_Activity&)>& take);
/// Mangled; empty where CUPTI has none.
std::string name_of(const KernelRecord& kernel);

}  // namespace kbench::worker

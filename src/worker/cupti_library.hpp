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

/// For cuptiActivityRegisterCallbacks: memory for records, freed by who takes it.
void CUPTIAPI give_activity_buffer(std::uint8_t** buffer, std::size_t* size,
                                   std::size_t* most_records);
/// Each kernel that the records in a buffer tell of.
void for_kernels(std::uint8_t* buffer, std::size_t valid_bytes,
                 const std::function<void(const KernelRecord&)>& take);
/// Mangled; empty where CUPTI has none.
std::string name_of(const KernelRecord& kernel);

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "worker/device/device.hpp"

/// Memory of the judge that torch's allocator uses for queued calls. So the judge can read their
/// outputs as they are when the clock stops.
namespace kbench::worker {

/// Sets the memory of exported_allocate(), for the rest of the process.
void use_exported_memory(SharedBuffer memory);

/// The functions of an allocator for torch.cuda.memory.CUDAPluggableAllocator. If there is not
/// enough memory, exported_allocate() returns null.
extern "C" void* exported_allocate(std::size_t bytes, int device, void* stream);
extern "C" void exported_release(void* memory, std::size_t bytes, int device, void* stream);

/// The offset of `bytes` at an address in that memory; nothing if they lie elsewhere.
std::optional<std::uint64_t> exported_offset(const void* address, std::size_t bytes);

}  // namespace kbench::worker

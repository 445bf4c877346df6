// SPDX-License-Identifier: MIT
//
// CPU emulation of CUDA's memory, in the process's own memory. It is allocated through the table of
// functions (Runtime), so that kernels' accesses to it can be checked. A copy is done when its call
// returns.
#include <cstdlib>
#include <cstring>

#include "split_runtime.hpp"

using namespace kbench_split;

namespace {

cudaError_t fail(cudaError_t error) {
  set_error(error);
  return error;
}

cudaError_t allocate(void** pointer, size_t bytes) {
  const Runtime* runtime = current_runtime();
  if (runtime == nullptr) return fail(cudaErrorInitializationError);
  if (pointer == nullptr) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const int error = runtime->allocate(runtime->context, pointer, bytes);
  return error == cudaSuccess ? cudaSuccess : fail(static_cast<cudaError_t>(error));
}

cudaError_t release(void* pointer) {
  const Runtime* runtime = current_runtime();
  if (pointer == nullptr) return cudaSuccess;
  if (runtime == nullptr) return fail(cudaErrorInitializationError);
  const int error = runtime->release(runtime->context, pointer);
  return error == cudaSuccess ? cudaSuccess : fail(static_cast<cudaError_t>(error));
}

cudaError_t copy(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (target == nullptr || source == nullptr) return fail(cudaErrorInvalidValue);
  const Runtime* runtime = current_runtime();
  if (runtime == nullptr) {
    std::memmove(target, source, bytes);
  } else {
    runtime->copy(runtime->context, target, source, bytes);
  }
  return cudaSuccess;
}

cudaError_t copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width, size_t height) {
  if (width > target_pitch || width > source_pitch) return fail(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = copy(static_cast<char*>(target) + row * target_pitch,
                                   static_cast<const char*>(source) + row * source_pitch, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t fill(void* target, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (target == nullptr) return fail(cudaErrorInvalidValue);
  const Runtime* runtime = current_runtime();
  if (runtime == nullptr) {
    std::memset(target, value, bytes);
  } else {
    runtime->fill(runtime->context, target, value, bytes);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

KBENCH_HIDDEN cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes);
}
KBENCH_HIDDEN cudaError_t cudaFree(void* pointer) { return release(pointer); }
KBENCH_HIDDEN cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return allocate(pointer, bytes);
}
KBENCH_HIDDEN cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer); }
KBENCH_HIDDEN cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                                          size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height);
}

// Pinned memory is device memory, too, because kernels may read it.
KBENCH_HIDDEN cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return allocate(pointer, bytes);
}
KBENCH_HIDDEN cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes);
}
KBENCH_HIDDEN cudaError_t cudaFreeHost(void* pointer) { return release(pointer); }
KBENCH_HIDDEN cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
KBENCH_HIDDEN cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
KBENCH_HIDDEN cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}

KBENCH_HIDDEN cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes,
                                     cudaMemcpyKind) {
  return copy(target, source, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes,
                                          cudaMemcpyKind, cudaStream_t) {
  return copy(target, source, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemcpyPeer(void* target, int, const void* source, int, size_t bytes) {
  return copy(target, source, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int,
                                              size_t bytes, cudaStream_t) {
  return copy(target, source, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source,
                                       size_t source_pitch, size_t width, size_t height,
                                       cudaMemcpyKind) {
  return copy_rows(target, target_pitch, source, source_pitch, width, height);
}
KBENCH_HIDDEN cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                            size_t source_pitch, size_t width, size_t height,
                                            cudaMemcpyKind, cudaStream_t) {
  return copy_rows(target, target_pitch, source, source_pitch, width, height);
}

KBENCH_HIDDEN cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return fill(target, value, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t) {
  return fill(target, value, bytes);
}
KBENCH_HIDDEN cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width,
                                       size_t height) {
  for (size_t row = 0; row < height; ++row) {
    fill(static_cast<char*>(target) + row * pitch, value, width);
  }
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width,
                                            size_t height, cudaStream_t) {
  return cudaMemset2D(target, pitch, value, width, height);
}

// Hints about the best place for memory have no effect here.
#if CUDART_VERSION >= 13000
KBENCH_HIDDEN cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                               cudaStream_t) {
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
#else
KBENCH_HIDDEN cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) {
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
#endif

KBENCH_HIDDEN cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{8} << 30;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                   const void* pointer) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

}  // extern "C"

// SPDX-License-Identifier: MIT
//
// The implementation of kbench_split.hpp, compiled once and linked into all host code. It defines
// the functions of CUDA's runtime that take a kernel or a device variable. Host code has only stubs
// and host variables for these, and the real runtime does not know them.
#include "split_runtime.hpp"

#include <cstring>

namespace kbench_split {
namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

const Runtime* runtime = nullptr;
thread_local Configuration configuration;
thread_local int last_error = cudaSuccess;

cudaError_t keep(int error) {
  if (error != cudaSuccess) last_error = error;
  return static_cast<cudaError_t>(error);
}

struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  unsigned cluster[3] = {0, 0, 0};
};

cudaError_t launch(const void* code, const Launch& how, const Argument* arguments,
                   std::size_t count) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  const unsigned grid[] = {how.grid.x, how.grid.y, how.grid.z};
  const unsigned block[] = {how.block.x, how.block.y, how.block.z};
  return keep(runtime->launch(runtime->context, code, grid, block, how.shared_bytes, how.stream,
                              arguments, count, how.cooperative ? 1 : 0, how.cluster));
}

/// The device address at an offset in the device variable that `shadow` stands for.
cudaError_t locate(const void* shadow, std::size_t offset, std::size_t count, void** address) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  std::size_t size = 0;
  const int error = runtime->symbol_address(runtime->context, shadow, address, &size);
  if (error != cudaSuccess) return keep(error);
  if (offset > size || count > size - offset) return keep(cudaErrorInvalidValue);
  *address = static_cast<char*>(*address) + offset;
  return cudaSuccess;
}

const Argument* pointers_only(void** arguments) {
  return reinterpret_cast<const Argument*>(arguments);
}

}  // namespace

void configure(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  configuration = {grid, block, shared_bytes, stream};
}

__attribute__((noinline)) void launch_stub(const Argument* arguments, std::size_t count) {
  const void* const code = __builtin_return_address(0);
  const Configuration with = configuration;
  launch(code, {with.grid, with.block, with.shared_bytes, with.stream, false, {0, 0, 0}}, arguments,
         count);
}

const Runtime* current_runtime() { return runtime; }

int take_error() {
  const int error = last_error;
  last_error = cudaSuccess;
  return error;
}

int peek_error() { return last_error; }

void set_error(int error) { keep(error); }

}  // namespace kbench_split

using namespace kbench_split;

extern "C" {

void kbench_split_start(const Runtime* given) { runtime = given; }

KBENCH_HIDDEN cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                           void** arguments, size_t shared_bytes,
                                           cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream, false, {0, 0, 0}},
                pointers_only(arguments), kPointersOnly);
}

KBENCH_HIDDEN cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                      void** arguments, size_t shared_bytes,
                                                      cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream, true, {0, 0, 0}},
                pointers_only(arguments), kPointersOnly);
}

KBENCH_HIDDEN cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                              void** arguments) {
  if (config == nullptr) return keep(cudaErrorInvalidValue);
  Launch how{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
             false,           {0, 0, 0}};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      how.cooperative = attribute.val.cooperative != 0;
    } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
      how.cluster[0] = attribute.val.clusterDim.x;
      how.cluster[1] = attribute.val.clusterDim.y;
      how.cluster[2] = attribute.val.clusterDim.z;
    }
  }
  return launch(kernel, how, pointers_only(arguments), kPointersOnly);
}

KBENCH_HIDDEN cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                               int value) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  return keep(runtime->set_attribute(runtime->context, kernel, attribute, value));
}

KBENCH_HIDDEN cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                const void* kernel) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  return keep(runtime->attributes(runtime->context, kernel, attributes));
}

// A hint that the driver may ignore.
KBENCH_HIDDEN cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

KBENCH_HIDDEN cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                        const void* kernel,
                                                                        int block_size,
                                                                        size_t shared_bytes) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  return keep(runtime->occupancy(runtime->context, kernel, blocks, block_size, shared_bytes));
}

KBENCH_HIDDEN cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int block_size, size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared_bytes);
}

KBENCH_HIDDEN cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return locate(symbol, 0, 0, address);
}

KBENCH_HIDDEN cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  if (runtime == nullptr) return keep(cudaErrorInitializationError);
  void* address = nullptr;
  return keep(runtime->symbol_address(runtime->context, symbol, &address, size));
}

KBENCH_HIDDEN cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count,
                                             size_t offset, cudaMemcpyKind kind) {
  void* target = nullptr;
  const cudaError_t error = locate(symbol, offset, count, &target);
  return error != cudaSuccess ? error : cudaMemcpy(target, source, count, kind);
}

KBENCH_HIDDEN cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                  size_t count, size_t offset, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
  void* target = nullptr;
  const cudaError_t error = locate(symbol, offset, count, &target);
  return error != cudaSuccess ? error : cudaMemcpyAsync(target, source, count, kind, stream);
}

KBENCH_HIDDEN cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t count,
                                               size_t offset, cudaMemcpyKind kind) {
  void* source = nullptr;
  const cudaError_t error = locate(symbol, offset, count, &source);
  return error != cudaSuccess ? error : cudaMemcpy(target, source, count, kind);
}

KBENCH_HIDDEN cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t count,
                                                    size_t offset, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
  void* source = nullptr;
  const cudaError_t error = locate(symbol, offset, count, &source);
  return error != cudaSuccess ? error : cudaMemcpyAsync(target, source, count, kind, stream);
}

// On a GPU the real runtime keeps its own errors; on the CPU all errors are kept here.
KBENCH_HIDDEN cudaError_t cudaGetLastError() {
  const int error = take_error();
  if (error != cudaSuccess && runtime != nullptr && runtime->error_taken != nullptr)
    runtime->error_taken(runtime->context);
  return static_cast<cudaError_t>(error != cudaSuccess ? error : other_last_error(true));
}

KBENCH_HIDDEN cudaError_t cudaPeekAtLastError() {
  const int error = peek_error();
  return static_cast<cudaError_t>(error != cudaSuccess ? error : other_last_error(false));
}

}  // extern "C"

// SPDX-License-Identifier: MIT
//
// CPU emulation of CUDA's device, streams, events and errors. There is one device, with the limits
// of the PTX executor. All work is done when a call returns.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "split_runtime.hpp"

using namespace kbench_split;

namespace {

using Clock = std::chrono::steady_clock;

// These agree with device.sms and device.smem of a plan on the CPU.
constexpr int kMultiprocessors = 16;
constexpr int kSharedBytes = 48 << 10;
constexpr int kSharedBytesOptIn = 227 << 10;
constexpr int kSharedBytesPerMultiprocessor = 228 << 10;
constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kRegisters = 64 << 10;
constexpr int kL2Bytes = 50 << 20;
constexpr int kMaxGridX = 0x7fffffff;
constexpr int kMaxGridYZ = 65535;

struct Event {
  Clock::time_point time = Clock::now();
};

struct ErrorName {
  cudaError_t error;
  const char *name, *text;
};

constexpr ErrorName kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const ErrorName* find(cudaError_t error) {
  for (const ErrorName& row : kErrors) {
    if (row.error == error) return &row;
  }
  return nullptr;
}

/// Also returns the errors of earlier launches.
cudaError_t synchronize() {
  const Runtime* runtime = current_runtime();
  if (runtime == nullptr || runtime->synchronize == nullptr) return cudaSuccess;
  const int error = runtime->synchronize(runtime->context);
  if (error != cudaSuccess) set_error(error);
  return static_cast<cudaError_t>(error);
}

template <typename Handle>
Handle new_handle() {
  return reinterpret_cast<Handle>(new Event);
}

template <typename Handle>
cudaError_t delete_handle(Handle handle) {
  delete reinterpret_cast<Event*>(handle);
  return cudaSuccess;
}

int attribute_value(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kThreadsPerBlock;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return kMaxGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedBytes;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return kSharedBytesOptIn;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return kSharedBytesPerMultiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrTotalConstantMemory:
      return 64 << 10;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrMultiProcessorCount:
      return kMultiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kThreadsPerMultiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return kBlocksPerMultiprocessor;
    case cudaDevAttrL2CacheSize:
      return kL2Bytes;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      return 1'000'000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return 64;
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrClusterLaunch:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

namespace kbench_split {
int other_last_error(bool) { return cudaSuccess; }
}  // namespace kbench_split

extern "C" {

// --- Errors ----------------------------------------------------------------------------------

KBENCH_HIDDEN const char* cudaGetErrorString(cudaError_t error) {
  const ErrorName* row = find(error);
  return row == nullptr ? "unrecognized error code" : row->text;
}
KBENCH_HIDDEN const char* cudaGetErrorName(cudaError_t error) {
  const ErrorName* row = find(error);
  return row == nullptr ? "unrecognized error code" : row->name;
}

// --- The device ------------------------------------------------------------------------------

KBENCH_HIDDEN cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
// A CPU tensor has the device number -1.
KBENCH_HIDDEN cudaError_t cudaSetDevice(int device) {
  if (device <= 0) return cudaSuccess;
  set_error(cudaErrorInvalidDevice);
  return cudaErrorInvalidDevice;
}
KBENCH_HIDDEN cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute_value(attribute);
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaGetDeviceProperties(cudaDeviceProp* device, int) {
  *device = {};
  std::snprintf(device->name, sizeof device->name, "PTX executor on the CPU");
  device->totalGlobalMem = size_t{8} << 30;
  device->sharedMemPerBlock = kSharedBytes;
  device->sharedMemPerBlockOptin = kSharedBytesOptIn;
  device->sharedMemPerMultiprocessor = kSharedBytesPerMultiprocessor;
  device->reservedSharedMemPerBlock = 1024;
  device->regsPerBlock = device->regsPerMultiprocessor = kRegisters;
  device->warpSize = 32;
  device->maxThreadsPerBlock = kThreadsPerBlock;
  device->maxThreadsDim[0] = device->maxThreadsDim[1] = kThreadsPerBlock;
  device->maxThreadsDim[2] = 64;
  device->maxGridSize[0] = kMaxGridX;
  device->maxGridSize[1] = device->maxGridSize[2] = kMaxGridYZ;
  device->totalConstMem = 64 << 10;
  device->major = 9;
  device->multiProcessorCount = kMultiprocessors;
  device->maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  device->maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  device->l2CacheSize = kL2Bytes;
  device->memoryBusWidth = 64;
  device->unifiedAddressing = device->managedMemory = device->concurrentKernels = 1;
  device->cooperativeLaunch = 1;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaDeviceSynchronize() { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaDeviceReset() { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
KBENCH_HIDDEN cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) {
  *value = 0;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
KBENCH_HIDDEN cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// --- Streams ---------------------------------------------------------------------------------

KBENCH_HIDDEN cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new_handle<cudaStream_t>();
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
KBENCH_HIDDEN cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
KBENCH_HIDDEN cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete_handle(stream); }
KBENCH_HIDDEN cudaError_t cudaStreamSynchronize(cudaStream_t) { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaStreamQuery(cudaStream_t) { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                                void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                                 const cudaStreamAttrValue*) {
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}

// --- Events ----------------------------------------------------------------------------------

KBENCH_HIDDEN cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new_handle<cudaEvent_t>();
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
KBENCH_HIDDEN cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete_handle(event); }
KBENCH_HIDDEN cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  reinterpret_cast<Event*>(event)->time = Clock::now();
  return cudaSuccess;
}
KBENCH_HIDDEN cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                   unsigned) {
  return cudaEventRecord(event, stream);
}
KBENCH_HIDDEN cudaError_t cudaEventSynchronize(cudaEvent_t) { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaEventQuery(cudaEvent_t) { return synchronize(); }
KBENCH_HIDDEN cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (start == nullptr || end == nullptr) return cudaErrorInvalidResourceHandle;
  const auto elapsed = reinterpret_cast<Event*>(end)->time - reinterpret_cast<Event*>(start)->time;
  *ms = std::chrono::duration<float, std::milli>(elapsed).count();
  return cudaSuccess;
}

KBENCH_HIDDEN cudaError_t cudaProfilerStart() { return cudaSuccess; }
KBENCH_HIDDEN cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"

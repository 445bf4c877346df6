// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <array>
#include <string>

/// The functions of the CUDA driver that kbench calls: member, and the symbol that it is loaded
/// from. The driver is opened at run time, so that kbench also starts without a GPU.
#define KBENCH_CUDA_FUNCTIONS(X)                                                                \
  X(cuInit, "cuInit")                                                                           \
  X(cuDeviceGet, "cuDeviceGet")                                                                 \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                               \
  X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId")                                                 \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                       \
  X(cuCtxSetCurrent, "cuCtxSetCurrent")                                                         \
  X(cuCtxSynchronize, "cuCtxSynchronize")                                                       \
  X(cuCtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache")                                 \
  X(cuMemGetInfo, "cuMemGetInfo_v2")                                                            \
  X(cuMemAlloc, "cuMemAlloc_v2")                                                                \
  X(cuMemFree, "cuMemFree_v2")                                                                  \
  X(cuMemAllocAsync, "cuMemAllocAsync")                                                         \
  X(cuMemFreeAsync, "cuMemFreeAsync")                                                           \
  X(cuMemHostAlloc, "cuMemHostAlloc")                                                           \
  X(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2")                                  \
  X(cuMemFreeHost, "cuMemFreeHost")                                                             \
  X(cuMemHostRegister, "cuMemHostRegister_v2")                                                  \
  X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity")                             \
  X(cuMemCreate, "cuMemCreate")                                                                 \
  X(cuMemRelease, "cuMemRelease")                                                               \
  X(cuMemAddressReserve, "cuMemAddressReserve")                                                 \
  X(cuMemAddressFree, "cuMemAddressFree")                                                       \
  X(cuMemMap, "cuMemMap")                                                                       \
  X(cuMemUnmap, "cuMemUnmap")                                                                   \
  X(cuMemSetAccess, "cuMemSetAccess")                                                           \
  X(cuMemExportToShareableHandle, "cuMemExportToShareableHandle")                               \
  X(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle")                           \
  X(cuMemsetD8Async, "cuMemsetD8Async")                                                         \
  X(cuMemsetD16Async, "cuMemsetD16Async")                                                       \
  X(cuMemsetD32Async, "cuMemsetD32Async")                                                       \
  X(cuMemsetD2D32Async, "cuMemsetD2D32Async")                                                   \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                                  \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2")                                                            \
  X(cuModuleLoadData, "cuModuleLoadData")                                                       \
  X(cuModuleUnload, "cuModuleUnload")                                                           \
  X(cuModuleGetFunction, "cuModuleGetFunction")                                                 \
  X(cuModuleGetGlobal, "cuModuleGetGlobal_v2")                                                  \
  X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                   \
  X(cuFuncGetAttribute, "cuFuncGetAttribute")                                                   \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor") \
  X(cuLaunchKernelEx, "cuLaunchKernelEx")                                                       \
  X(cuStreamCreate, "cuStreamCreate")                                                           \
  X(cuStreamDestroy, "cuStreamDestroy_v2")                                                      \
  X(cuStreamIsCapturing, "cuStreamIsCapturing")                                                 \
  X(cuStreamWaitEvent, "cuStreamWaitEvent")                                                     \
  X(cuStreamWaitValue32, "cuStreamWaitValue32_v2")                                              \
  X(cuStreamWriteValue32, "cuStreamWriteValue32_v2")                                            \
  X(cuEventCreate, "cuEventCreate")                                                             \
  X(cuEventDestroy, "cuEventDestroy_v2")                                                        \
  X(cuEventRecord, "cuEventRecord")                                                             \
  X(cuEventSynchronize, "cuEventSynchronize")                                                   \
  X(cuEventElapsedTime, "cuEventElapsedTime")                                                   \
  X(cuGetErrorName, "cuGetErrorName")                                                           \
  X(cuGetErrorString, "cuGetErrorString")

namespace kbench::worker {

/// The loaded driver: one function pointer per row above.
struct CudaDriver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member, in its declaration
#define KBENCH_MEMBER(name, symbol) decltype(&::name) name = nullptr;
  KBENCH_CUDA_FUNCTIONS(KBENCH_MEMBER)
#undef KBENCH_MEMBER
  /// Records an event after all work of a context; null before CUDA 12.5.
  // NOLINTNEXTLINE(readability-identifier-naming): the driver's own name, as above
  CUresult (*cuCtxRecordEvent)(CUcontext context, CUevent event) = nullptr;
};

/// Opens libcuda.so.1 once. Throws kbench::Error if it is missing or lacks a function.
const CudaDriver& cuda_driver();

/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string describe(CUresult result);

/// The driver's description of a launch with grid, block, cluster, shared_bytes and cooperative.
class LaunchConfig {
 public:
  template <typename Launch>
  LaunchConfig(const Launch& launch, CUstream stream) {
    config_.gridDimX = launch.grid[0];
    config_.gridDimY = launch.grid[1];
    config_.gridDimZ = launch.grid[2];
    config_.blockDimX = launch.block[0];
    config_.blockDimY = launch.block[1];
    config_.blockDimZ = launch.block[2];
    config_.sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
    config_.hStream = stream;
    config_.attrs = attributes_.data();
    if (launch.cooperative) {
      auto& attribute = attributes_[config_.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    if (launch.cluster[0] > 0) {
      auto& attribute = attributes_[config_.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;

  const CUlaunchConfig* get() const { return &config_; }

 private:
  std::array<CUlaunchAttribute, 2> attributes_{};
  CUlaunchConfig config_{};
};

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
//
// Functions of torch's GPU interface that call CUDA's runtime. Here they call its CPU emulation.
#include "kbench_cpu.hpp"

namespace c10::cuda {

void CUDAStream::synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(handle_)); }

void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

void stream_synchronize(cudaStream_t stream) { C10_CUDA_CHECK(cudaStreamSynchronize(stream)); }

void c10_cuda_check_implementation(std::int32_t error, const char*, const char*, std::uint32_t,
                                   bool) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  TORCH_CHECK(false, "CUDA error: ", cudaGetErrorString(static_cast<cudaError_t>(error)));
}

namespace CUDACachingAllocator {

void* raw_alloc(std::size_t bytes) {
  void* pointer = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&pointer, bytes));
  return pointer;
}

void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t) { return raw_alloc(bytes); }

void raw_delete(void* pointer) { C10_CUDA_CHECK(cudaFree(pointer)); }

}  // namespace CUDACachingAllocator
}  // namespace c10::cuda

namespace at::cuda {

cudaDeviceProp* getDeviceProperties(c10::DeviceIndex) {
  static cudaDeviceProp device;
  static const cudaError_t filled = cudaGetDeviceProperties(&device, 0);
  static_cast<void>(filled);
  return &device;
}

cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }

CUDAEvent::CUDAEvent(unsigned) { static_cast<void>(cudaEventCreate(&event_)); }

CUDAEvent::~CUDAEvent() { static_cast<void>(cudaEventDestroy(event_)); }

void CUDAEvent::record() { static_cast<void>(cudaEventRecord(event_, nullptr)); }

void CUDAEvent::record(const CUDAStream&) { record(); }

void CUDAEvent::recordOnce(const CUDAStream&) { record(); }

float CUDAEvent::elapsed_time(const CUDAEvent& end) const {
  float ms = 0;
  C10_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, end.event_));
  return ms;
}

}  // namespace at::cuda

namespace torch::cuda {

void synchronize(std::int64_t) { c10::cuda::device_synchronize(); }

}  // namespace torch::cuda

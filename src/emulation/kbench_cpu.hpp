// SPDX-License-Identifier: MIT
//
// Torch's and CUDA's GPU interfaces for host code that will run on the CPU. There is one device,
// and all work is done when a call returns. Functions that call CUDA's runtime are only declared
// here, because in this precompiled header they would call the real runtime. cpu_torch.cpp defines
// them and is linked into all host code alongside the emulated runtime.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <torch/types.h>

#include <optional>
#include <tuple>
#include <vector>

#include "kbench_cublas.hpp"
#include "kbench_runtime.hpp"

namespace c10::cuda {

/// A stream. All work is done at once, so streams differ only in their handles.
class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  explicit CUDAStream(Stream) {}
  CUDAStream(Unchecked, Stream) {}
  explicit CUDAStream(cudaStream_t handle = nullptr) : handle_(handle) {}
  operator cudaStream_t() const { return handle_; }
  operator Stream() const { return unwrap(); }
  bool operator==(const CUDAStream& other) const { return handle_ == other.handle_; }
  bool operator!=(const CUDAStream& other) const { return handle_ != other.handle_; }
  cudaStream_t stream() const { return handle_; }
  Stream unwrap() const { return Stream(Stream::DEFAULT, device()); }
  DeviceType device_type() const { return DeviceType::CPU; }
  DeviceIndex device_index() const { return 0; }
  Device device() const { return Device(DeviceType::CPU); }
  StreamId id() const { return 0; }
  int priority() const { return 0; }
  bool query() const { return true; }
  KBENCH_HIDDEN void synchronize() const;
  static std::tuple<int, int> priority_range() { return {0, 0}; }

 private:
  cudaStream_t handle_ = nullptr;
};

inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromPool(int, DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromExternal(cudaStream_t handle, DeviceIndex) {
  return CUDAStream(handle);
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return CUDAStream(); }
inline void setCurrentCUDAStream(CUDAStream) {}

inline DeviceIndex device_count() noexcept { return 1; }
inline DeviceIndex device_count_ensure_non_zero() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void set_device(DeviceIndex, bool = false) {}
inline DeviceIndex ExchangeDevice(DeviceIndex) { return 0; }
inline DeviceIndex MaybeExchangeDevice(DeviceIndex) { return 0; }
KBENCH_HIDDEN void device_synchronize();
KBENCH_HIDDEN void stream_synchronize(cudaStream_t stream);

/// Base of all guards. With one device, they have nothing to change or restore.
struct AnyGuard {
  AnyGuard() = default;
  template <typename... Any>
  explicit AnyGuard(const Any&...) {}
  void set_device(Device) {}
  void reset_device(Device) {}
  void set_index(DeviceIndex) {}
  void reset_stream(Stream) {}
  void reset_stream(CUDAStream) {}
  void reset() {}
  Device original_device() const { return Device(DeviceType::CPU); }
  Device current_device() const { return Device(DeviceType::CPU); }
  CUDAStream original_stream() const { return CUDAStream(); }
  CUDAStream current_stream() const { return CUDAStream(); }
};
struct CUDAGuard : AnyGuard {
  explicit CUDAGuard(DeviceIndex) {}
  explicit CUDAGuard(Device) {}
};
struct OptionalCUDAGuard : AnyGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device>) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex>) {}
};
struct CUDAStreamGuard : AnyGuard {
  explicit CUDAStreamGuard(Stream) {}
};
struct OptionalCUDAStreamGuard : AnyGuard {
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(std::optional<Stream>) {}
};
struct CUDAMultiStreamGuard : AnyGuard {
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream>) {}
};

/// Throws the text of the error, as torch's own check does.
KBENCH_HIDDEN void c10_cuda_check_implementation(std::int32_t error, const char* file,
                                                 const char* function, std::uint32_t line,
                                                 bool include_device_assertions);

namespace CUDACachingAllocator {
KBENCH_HIDDEN void* raw_alloc(std::size_t bytes);
KBENCH_HIDDEN void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream);
KBENCH_HIDDEN void raw_delete(void* pointer);
inline Allocator* get() { return GetAllocator(DeviceType::CPU); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, CUDAStream) {}
}  // namespace CUDACachingAllocator

}  // namespace c10::cuda

namespace at::cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAMultiStreamGuard;
using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::current_device;
using c10::cuda::device_count;
using c10::cuda::device_synchronize;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromExternal;
using c10::cuda::getStreamFromPool;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::OptionalCUDAStreamGuard;
using c10::cuda::set_device;
using c10::cuda::setCurrentCUDAStream;
using c10::cuda::stream_synchronize;

inline std::int64_t getNumGPUs() { return 1; }
inline bool is_available() { return true; }
inline int warp_size() { return 32; }
inline bool canDeviceAccessPeer(c10::DeviceIndex, c10::DeviceIndex) { return true; }
inline c10::Allocator* getCUDADeviceAllocator() { return c10::cuda::CUDACachingAllocator::get(); }
KBENCH_HIDDEN cudaDeviceProp* getCurrentDeviceProperties();
KBENCH_HIDDEN cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
inline cublasHandle_t getCurrentCUDABlasHandle() { return nullptr; }
// Libraries without CPU emulation. They are declared so that the linker's error names the missing
// function.
cublasLtHandle_t getCurrentCUDABlasLtHandle();
cusparseHandle_t getCurrentCUDASparseHandle();
cusolverDnHandle_t getCurrentCUDASolverDnHandle();

template <typename T>
inline constexpr cudaDataType kbench_data_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType kbench_data_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kbench_data_type<at::Half> = CUDA_R_16F;
template <>
inline constexpr cudaDataType kbench_data_type<at::BFloat16> = CUDA_R_16BF;
template <typename T>
cudaDataType getCudaDataType() {
  return kbench_data_type<T>;
}

template <typename A, typename B>
constexpr A ATenCeilDiv(A a, B b) {
  return (a + b - 1) / b;
}

// Not hidden, because code of this header is compiled into the library of the precompiled header.
struct CUDAEvent {
  explicit CUDAEvent(unsigned flags = cudaEventDisableTiming);
  ~CUDAEvent();
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  cudaEvent_t event() const { return event_; }
  operator cudaEvent_t() const { return event_; }
  bool isCreated() const { return true; }
  bool query() const { return true; }
  void record();
  void record(const CUDAStream& stream);
  void recordOnce(const CUDAStream& stream);
  void block(const CUDAStream&) const {}
  void synchronize() const {}
  float elapsed_time(const CUDAEvent& end) const;

 private:
  cudaEvent_t event_ = nullptr;
};
}  // namespace at::cuda

namespace torch::cuda {
inline bool is_available() { return true; }
inline c10::DeviceIndex device_count() { return 1; }
inline bool cudnn_is_available() { return false; }
KBENCH_HIDDEN void synchronize(std::int64_t device = -1);
}  // namespace torch::cuda

#define C10_CUDA_API
#define C10_CUDA_CHECK(call)                                                                    \
  do {                                                                                          \
    const cudaError_t kbench_error = (call);                                                    \
    c10::cuda::c10_cuda_check_implementation(static_cast<std::int32_t>(kbench_error), __FILE__, \
                                             __func__, __LINE__, true);                         \
  } while (0)
#define C10_CUDA_CHECK_WARN(call) C10_CUDA_CHECK(call)
#define C10_CUDA_ERROR_HANDLED(call) (call)
#define C10_CUDA_IGNORE_ERROR(call) static_cast<void>(call)
#define C10_CUDA_CLEAR_ERROR() static_cast<void>(cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define TORCH_CUDABLAS_CHECK(call) \
  TORCH_CHECK((call) == CUBLAS_STATUS_SUCCESS, "CUDA error: cuBLAS failed when calling `" #call "`")

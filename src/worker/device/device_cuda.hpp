// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/device/cuda_driver.hpp"
#include "worker/device/device.hpp"
#include "worker/device/gpu_state.hpp"

namespace kbench::worker {

/// Throws the failure for a CUDA error of a candidate's call. `what`: the action that failed.
void check(CUresult result, std::string_view what);

/// Conversions, because the driver's addresses are integers.
std::byte* host_pointer(CUdeviceptr pointer);
CUdeviceptr device_pointer(const std::byte* pointer);

/// A GPU, used through the driver. Memory and launches are in device_cuda.cpp, timing is in
/// device_cuda_timing.cpp.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index);
  /// A judge opens one for each problem, so it must be closed. Errors are ignored.
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string_view name() const override { return name_; }
  std::size_t granularity() const override { return granularity_; }
  std::size_t free_bytes() override;

  /// Any process with the descriptor can write to the memory. Only digests detect that.
  SharedBuffer create(BufferLayout layout, bool) override;
  SharedBuffer map(Fd fd, BufferLayout layout, bool writable) override;
  SharedBuffer allocate(BufferLayout layout) override;
  void fill(std::byte* data, std::uint8_t value, std::size_t size_bytes) override;
  void fill_pattern(std::byte* data, std::uint64_t bits, std::size_t element_bytes,
                    std::size_t count) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override;
  void read(std::byte* host, const std::byte* from, std::size_t size_bytes) override;
  void synchronize() override { check(cuda_.cuCtxSynchronize(), "the kernels failed"); }

  void load(std::string_view image, const LaunchPlan& plan) override;
  bool load_other_build(std::string_view image, const LaunchPlan& plan) override;
  void use_other_build(bool other) override { uses_other_ = other; }
  void use_tensors(std::span<const KernelTensor> tensors) override;
  void launch(const LaunchPlan::Launch& launch) override;

  void open_whole() override;
  void flush_cache() override;
  void encrypt(std::byte* data, std::size_t size_bytes,
               const protocol::EncryptionKey& key) override;
  void use_timing_kernels(std::string_view image) override;

  std::optional<std::vector<DeviceActivity>> record(const std::function<void()>& work) override;
  std::optional<SmLimits> sm_limits() override;
  std::optional<DeviceLook> look_for_others(double span_ms, double* start_ms) override;
  void start_guard() override;
  void finish_queued() override;
  bool end_guard() override;
  bool use_gate(Fd page) override;
  void queue_gate(std::uint32_t block, void* stream) override;
  void spin(double span_ms, void* stream) override;
  void queue_done(std::uint32_t block, void* stream) override;
  DeviceState state() override;

 private:
  struct Code {
    CUmodule module = nullptr;
    std::map<std::string, CUfunction> functions;
    std::map<std::string, int> shared;
  };

  SharedBuffer map_handle(CUmemGenericAllocationHandle handle, Fd fd, BufferLayout layout,
                          bool writable);
  void load_into(Code& code, std::string_view image, const LaunchPlan& plan);
  void load_function(Code& code, const LaunchPlan::Launch& launch);
  /// The part of flush_cache() that waits for all work.
  void prepare_flush();
  void read_flush_buffer();
  /// Launches threads for all multiprocessors, which stride over memory.
  void launch_wide(CUfunction kernel, void** arguments, const char* doing);
  /// Launches a thread that reads the clock for `span_ms` and reports in the signals from `signal`
  /// on.
  void launch_watch(double span_ms, std::size_t signal, CUstream stream);
  /// Returns when the GPU has written that signal.
  void await_signal(std::size_t signal);
  /// Launches a grid of one thread.
  void launch_thread(CUfunction kernel, void** arguments, const char* doing, CUstream stream);

  std::string name_;
  const CudaDriver& cuda_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmemAllocationProp allocation_{};
  std::size_t granularity_ = 0;
  Code code_, other_;
  bool uses_other_ = false;
  std::vector<CUdeviceptr> addresses_;
  CUevent queued_done_ = nullptr;  ///< for finish_queued()
  CUdeviceptr flush_ = 0;
  std::size_t flush_bytes_ = 0;
  CUmodule timing_module_ = nullptr;
  CUfunction flush_kernel_ = nullptr, empty_kernel_ = nullptr, encrypt_kernel_ = nullptr,
             watch_kernel_ = nullptr;
  volatile unsigned* signals_ = nullptr;  ///< of a probe, then of a guard
  CUdeviceptr device_signals_ = 0;
  protocol::GateWords* gate_words_ = nullptr;  ///< in memory shared with the judge
  CUdeviceptr gate_ = 0;                       ///< their address on the GPU
  bool has_gate_ = false;                      ///< streams can wait for these words
  CUevent all_done_ = nullptr;                 ///< follows all work of the context
  CUstream guard_stream_ = nullptr;
  bool is_guarded_ = false;
  std::unique_ptr<GpuStateReader> reader_;
};

}  // namespace kbench::worker

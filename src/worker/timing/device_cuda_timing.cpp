// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include "worker/device/device_cuda.hpp"
#include "worker/device/kernel_trace.hpp"

// Work around timed calls on a GPU: flushing caches, encrypting inputs, and watching for work of
// other contexts.
namespace kbench::worker {
namespace {

/// Kernels of src/worker/kernels/timing_kernels.cu.
constexpr const char* kEncryptKernel = "kbench_encrypt";
constexpr const char* kWatchKernel = "kbench_watch";
/// Words of memory through which that kernel and the host signal to each other: the first words of
/// the probe and of the guard, and the number of all.
constexpr std::size_t kLookSignals = 0, kGuardSignals = 4, kSignals = 8;
/// Signals of the watch kernel: microseconds in total and missed, "has begun", "must end".
enum : std::uint8_t { kSpan, kMissed, kBegun, kEnd };
constexpr std::chrono::seconds kStartLimit{60};
/// Longer than the judge needs to decrypt inputs and flush the cache.
constexpr double kMostGuard_ms = 1000;
/// The shortest gap between readings of the clock that is another context's work. On an H100 such a
/// gap lasts 2.4 ms, switches included; all other gaps last at most 30 µs.
constexpr double kLeastTurn_ms = 0.1;
/// Enough threads for every multiprocessor of the largest GPU.
constexpr unsigned kFlushBlocks = 2048, kFlushThreads = 256;
constexpr std::size_t kFlushVector = 16;  ///< bytes that a thread reads at once

}  // namespace

void CudaDevice::prepare_flush() {
  if (flush_ == 0) {
    int l2 = 0;
    check(cuda_.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device_), "L2 size");
    flush_bytes_ = std::max<std::size_t>(2 * static_cast<std::size_t>(l2), 64u << 20);
    check(cuda_.cuMemAlloc(&flush_, flush_bytes_), "allocating the flush buffer");
    check(cuda_.cuMemsetD32Async(flush_, 0, flush_bytes_ / 4, nullptr), "flushing");
    read_flush_buffer();  // the driver loads a kernel at its first launch
  }
  // Persisting lines would survive the flush.
  cuda_.cuCtxResetPersistingL2Cache();
}

void CudaDevice::read_flush_buffer() {
  if (flush_kernel_ == nullptr) {
    check(cuda_.cuMemsetD32Async(flush_, 0, flush_bytes_ / 4, nullptr), "flushing");
    return;
  }
  unsigned long long count = flush_bytes_ / kFlushVector;
  std::array<void*, 2> arguments{&flush_, &count};
  launch_wide(flush_kernel_, arguments.data(), "flushing");
}

void CudaDevice::flush_cache() {
  // Allocations, the first launch and the reset wait for all work, and so for the guard.
  if (!is_guarded_) prepare_flush();
  read_flush_buffer();
}

void CudaDevice::encrypt(std::byte* data, std::size_t size_bytes,
                         const protocol::EncryptionKey& key) {
  if (encrypt_kernel_ == nullptr || size_bytes == 0) return;
  CUdeviceptr from = device_pointer(data);
  unsigned long long count = (size_bytes + kFlushVector - 1) / kFlushVector;
  unsigned long long bits = key.key;
  unsigned long long nonce = key.nonce;
  std::array<void*, 4> arguments{&from, &count, &bits, &nonce};
  launch_wide(encrypt_kernel_, arguments.data(), "encrypting inputs");
}

void CudaDevice::use_timing_kernels(std::string_view image) {
  if (image.empty() || flush_kernel_ != nullptr) return;
  check(cuda_.cuModuleLoadData(&timing_module_, image.data()), "loading the timing kernels");
  check(cuda_.cuModuleGetFunction(&flush_kernel_, timing_module_, kFlushKernel),
        "finding the flush kernel");
  check(cuda_.cuModuleGetFunction(&empty_kernel_, timing_module_, kEmptyKernel),
        "finding the empty kernel");
  check(cuda_.cuModuleGetFunction(&encrypt_kernel_, timing_module_, kEncryptKernel),
        "finding the kernel that encrypts inputs");
  check(cuda_.cuModuleGetFunction(&watch_kernel_, timing_module_, kWatchKernel),
        "finding the kernel that looks for others");
  void* signals = nullptr;
  check(cuda_.cuMemHostAlloc(&signals, kSignals * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP),
        "allocating the signals of the watch");
  signals_ = static_cast<volatile unsigned*>(signals);
  check(cuda_.cuMemHostGetDevicePointer(&device_signals_, signals, 0),
        "mapping the signals of the watch");
}

std::optional<std::vector<DeviceActivity>> CudaDevice::record(const std::function<void()>& work) {
  synchronize();
  return device_activity([&] {
    work();
    synchronize();
  });
}

void CudaDevice::launch_watch(double span_ms, std::size_t signal, CUstream stream) {
  for (const auto word : {kSpan, kBegun, kEnd}) signals_[signal + word] = 0;
  CUdeviceptr seen = device_signals_ + signal * sizeof(unsigned);
  auto span_ns = static_cast<unsigned long long>(span_ms * 1e6);
  auto least_ns = static_cast<unsigned long long>(kLeastTurn_ms * 1e6);
  std::array<void*, 3> arguments{&seen, &span_ns, &least_ns};
  launch_thread(watch_kernel_, arguments.data(), "looking at the clock", stream);
}

void CudaDevice::await_signal(std::size_t signal) {
  const auto from = protocol::Clock::now();
  while (signals_[signal] == 0 && protocol::Clock::now() - from < kStartLimit)
    continue;  // no sleep: the time would include it
}

std::optional<DeviceLook> CudaDevice::look_for_others(double span_ms, double* start_ms) {
  if (watch_kernel_ == nullptr) return std::nullopt;
  if (start_ms != nullptr) {
    const auto from = protocol::Clock::now();
    launch_watch(span_ms, kLookSignals, nullptr);
    await_signal(kLookSignals + kBegun);
    *start_ms = std::chrono::duration<double, std::milli>(protocol::Clock::now() - from).count();
  } else {
    launch_watch(span_ms, kLookSignals, nullptr);
  }
  synchronize();
  return DeviceLook{signals_[kLookSignals + kSpan] / 1e3, signals_[kLookSignals + kMissed] / 1e3};
}

void CudaDevice::spin(double span_ms, void* stream) {
  if (watch_kernel_ != nullptr) launch_watch(span_ms, kLookSignals, static_cast<CUstream>(stream));
}

void CudaDevice::start_guard() {
  if (watch_kernel_ == nullptr) return;
  if (guard_stream_ == nullptr)
    check(cuda_.cuStreamCreate(&guard_stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  prepare_flush();
  is_guarded_ = true;
  launch_watch(kMostGuard_ms, kGuardSignals, guard_stream_);
  await_signal(kGuardSignals + kBegun);
}

void CudaDevice::finish_queued() {
  check(cuda_.cuEventRecord(queued_done_, nullptr), "cuEventRecord");
  check(cuda_.cuEventSynchronize(queued_done_), "the kernels failed");
}

bool CudaDevice::end_guard() {
  if (!std::exchange(is_guarded_, false)) return true;
  signals_[kGuardSignals + kEnd] = 1;
  await_signal(kGuardSignals + kSpan);
  return signals_[kGuardSignals + kMissed] == 0 &&
         signals_[kGuardSignals + kSpan] < kMostGuard_ms * 1e3;
}

void CudaDevice::launch_wide(CUfunction kernel, void** arguments, const char* doing) {
  CUlaunchConfig config{};
  config.gridDimX = kFlushBlocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = kFlushThreads;
  config.blockDimY = config.blockDimZ = 1;
  check(cuda_.cuLaunchKernelEx(&config, kernel, arguments, nullptr), doing);
}

void CudaDevice::launch_thread(CUfunction kernel, void** arguments, const char* doing,
                               CUstream stream) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  check(cuda_.cuLaunchKernelEx(&config, kernel, arguments, nullptr), doing);
}

}  // namespace kbench::worker

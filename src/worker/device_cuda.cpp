// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "kbench/error.hpp"
#include "worker/cuda_driver.hpp"
#include "worker/device.hpp"
#include "worker/gpu_state.hpp"
#include "worker/timing.hpp"

namespace kbench::worker {
namespace {

/// In src/run/judge_kernels_text.hpp. Enough threads for every multiprocessor of the largest GPU.
constexpr const char* kFlushKernel = "kbench_flush_l2";
constexpr const char* kHoldKernel = "kbench_hold";
constexpr const char* kEmptyKernel = "kbench_empty";
constexpr const char* kVeilKernel = "kbench_veil";
/// Longer than queueing the thousands of launches of a large model takes. Of a call that waits for
/// the device inside, the first alone costs this: then nothing is held any more.
constexpr unsigned long long kHoldLimit_ms = 100;
constexpr int kOverheadCalls = 21;
constexpr unsigned kFlushBlocks = 2048, kFlushThreads = 256;
constexpr std::size_t kFlushVector = 16;  ///< bytes that a thread reads at once

struct ErrorRow {
  CUresult result;
  Outcome outcome;
  std::string_view cause;
};

/// What a CUDA error of a candidate's call means; any other one is a crash named after itself.
constexpr ErrorRow kErrors[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, Outcome::kOutOfMemory, "allocation_failed"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, Outcome::kCrash, "illegal_address"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, Outcome::kCrash, "misaligned_address"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, Outcome::kCrash, "trap"},
    {CUDA_ERROR_LAUNCH_FAILED, Outcome::kCrash, "trap"},
    {CUDA_ERROR_ASSERT, Outcome::kCrash, "trap"},
    {CUDA_ERROR_INVALID_VALUE, Outcome::kCrash, "invalid_launch"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Outcome::kCrash, "invalid_launch"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, Outcome::kCrash, "invalid_launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, Outcome::kTimeout, "execution_limit"},
};

void check(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  for (const auto& row : kErrors)
    if (row.result == result)
      throw CandidateFailure{row.outcome, std::string(row.cause),
                             fmt::format("{}: {}", what, describe(result))};
  throw CandidateFailure{Outcome::kCrash, "cuda_error",
                         fmt::format("{}: {}", what, describe(result))};
}

std::byte* host_pointer(CUdeviceptr pointer) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
  return reinterpret_cast<std::byte*>(pointer);
}
CUdeviceptr device_pointer(const std::byte* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : name_(fmt::format("cuda:{}", index)), cuda_(cuda_driver()) {
    check(cuda_.cuInit(0), "cuInit");
    check(cuda_.cuDeviceGet(&device_, index), fmt::format("opening GPU {}", index));
    check(cuda_.cuDevicePrimaryCtxRetain(&context_, device_), "creating the CUDA context");
    check(cuda_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    allocation_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    allocation_.location = {CU_MEM_LOCATION_TYPE_DEVICE, {index}};
    check(cuda_.cuMemGetAllocationGranularity(&granularity_, &allocation_,
                                              CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
    check(cuda_.cuEventCreate(&start_, CU_EVENT_DEFAULT), "cuEventCreate");
    check(cuda_.cuEventCreate(&stop_, CU_EVENT_DEFAULT), "cuEventCreate");
  }

  /// A judge opens one for each of its problems. Whether it succeeds does not matter any more.
  ~CudaDevice() override {
    if (flush_ != 0) cuda_.cuMemFree(flush_);
    for (const Code& code : {code_, other_})
      if (code.module != nullptr) cuda_.cuModuleUnload(code.module);
    if (timing_module_ != nullptr) cuda_.cuModuleUnload(timing_module_);
    if (signals_ != nullptr) cuda_.cuMemFreeHost(const_cast<unsigned*>(signals_));
    if (capture_stream_ != nullptr) cuda_.cuStreamDestroy(capture_stream_);
    cuda_.cuEventDestroy(start_);
    cuda_.cuEventDestroy(stop_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string_view name() const override { return name_; }
  std::size_t granularity() const override { return granularity_; }
  std::size_t free_bytes() override {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cuda_.cuMemGetInfo(&free, &total), "cuMemGetInfo");
    return free;
  }

  /// Whoever has the descriptor can write to it: only digests tell.
  SharedBuffer create(BufferLayout layout, bool) override {
    CUmemGenericAllocationHandle handle = 0;
    check(cuda_.cuMemCreate(&handle, layout.mapped_bytes, &allocation_, 0),
          fmt::format("allocating {} bytes", layout.mapped_bytes));
    int fd = -1;
    check(cuda_.cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                             0),
          "exporting memory");
    return map_handle(handle, Fd(fd), layout, true);
  }

  SharedBuffer map(Fd fd, BufferLayout layout, bool writable) override {
    CUmemGenericAllocationHandle handle = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes a descriptor by this type
    auto* descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd.value()));
    check(cuda_.cuMemImportFromShareableHandle(&handle, descriptor,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          "importing memory");
    return map_handle(handle, std::move(fd), layout, writable);
  }

  SharedBuffer allocate(BufferLayout layout) override {
    CUmemGenericAllocationHandle handle = 0;
    check(cuda_.cuMemCreate(&handle, layout.mapped_bytes, &allocation_, 0),
          fmt::format("allocating {} bytes", layout.mapped_bytes));
    return map_handle(handle, Fd(), layout, true);
  }

  void fill(std::byte* data, std::uint8_t value, std::size_t size_bytes) override {
    if (size_bytes > 0)
      check(cuda_.cuMemsetD8Async(device_pointer(data), value, size_bytes, stream_), "memset");
  }

  void fill_pattern(std::byte* data, std::uint64_t bits, std::size_t element_bytes,
                    std::size_t count) override {
    if (count == 0) return;
    const CUdeviceptr to = device_pointer(data);
    const auto low = static_cast<std::uint32_t>(bits);
    const auto high = static_cast<std::uint32_t>(bits >> 32);
    if (element_bytes == 1) {
      fill(data, static_cast<std::uint8_t>(bits), count);
    } else if (element_bytes == 2) {
      check(cuda_.cuMemsetD16Async(to, static_cast<unsigned short>(bits), count, stream_),
            "memset");
    } else if (element_bytes == 4) {
      check(cuda_.cuMemsetD32Async(to, low, count, stream_), "memset");
    } else if (low == high) {
      check(cuda_.cuMemsetD32Async(to, low, 2 * count, stream_), "memset");
    } else {
      check(cuda_.cuMemsetD2D32Async(to, 8, low, 1, count, stream_), "memset");
      check(cuda_.cuMemsetD2D32Async(to + 4, 8, high, 1, count, stream_), "memset");
    }
  }

  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override {
    if (size_bytes > 0)
      check(cuda_.cuMemcpyDtoDAsync(device_pointer(to), device_pointer(from), size_bytes, stream_),
            "memcpy");
  }
  void read(std::byte* host, const std::byte* from, std::size_t size_bytes) override {
    if (size_bytes > 0) check(cuda_.cuMemcpyDtoH(host, device_pointer(from), size_bytes), "memcpy");
  }
  void synchronize() override { check(cuda_.cuCtxSynchronize(), "the kernels failed"); }

  void load(std::string_view image, const LaunchPlan& plan) override {
    try {
      load_into(code_, image, plan);
    } catch (CandidateFailure& failure) {
      if (failure.outcome == Outcome::kCrash) {
        failure.outcome = Outcome::kLoadFailure;
        failure.cause = "module_load";
      }
      throw;
    }
  }

  bool load_other_build(std::string_view image, const LaunchPlan& plan) override {
    try {
      load_into(other_, image, plan);
    } catch (const CandidateFailure&) {
      return false;  // the driver is older than the compiler, or the registers are too many
    }
    return true;
  }
  void use_other_build(bool other) override { uses_other_ = other; }

  void use_tensors(std::span<const KernelTensor> tensors) override {
    addresses_.clear();
    for (const auto& tensor : tensors) addresses_.push_back(device_pointer(tensor.data));
  }

  void launch(const LaunchPlan::Launch& launch) override {
    std::vector<std::array<std::uint8_t, 8>> values(launch.arguments.size());
    std::vector<void*> pointers(launch.arguments.size());
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto& argument = launch.arguments[i];
      values[i] = argument.bytes;
      if (argument.tensor)
        std::memcpy(values[i].data(), &addresses_.at(*argument.tensor), sizeof(CUdeviceptr));
      pointers[i] = values[i].data();
    }
    std::array<CUlaunchAttribute, 2> attributes{};
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0];
    config.blockDimY = launch.block[1];
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.shared_bytes;
    config.hStream = stream_;
    config.attrs = attributes.data();
    if (launch.cooperative) {
      auto& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    if (launch.cluster[0] > 0) {
      auto& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
    check(
        cuda_.cuLaunchKernelEx(&config, (uses_other_ ? other_ : code_).functions.at(launch.symbol),
                               pointers.data(), nullptr),
        fmt::format("launching {} in line {}", launch.kernel, launch.line));
  }

  void flush_cache() override {
    if (flush_ == 0) {
      int l2 = 0;
      check(cuda_.cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device_), "L2 size");
      flush_bytes_ = std::max<std::size_t>(2 * static_cast<std::size_t>(l2), 64u << 20);
      check(cuda_.cuMemAlloc(&flush_, flush_bytes_), "allocating the flush buffer");
      check(cuda_.cuMemsetD32Async(flush_, 0, flush_bytes_ / 4, nullptr), "flushing");
    }
    // Persisting lines would survive all of it.
    cuda_.cuCtxResetPersistingL2Cache();
    if (flush_kernel_ == nullptr) {
      check(cuda_.cuMemsetD32Async(flush_, 0, flush_bytes_ / 4, nullptr), "flushing");
      return;
    }
    unsigned long long count = flush_bytes_ / kFlushVector;
    std::array<void*, 2> arguments{&flush_, &count};
    launch_wide(flush_kernel_, arguments.data(), "flushing");
  }

  bool veils() const override { return veil_kernel_ != nullptr; }
  void veil(std::byte* data, std::size_t size_bytes, const protocol::VeilKey& key) override {
    if (!veils() || size_bytes == 0) return;
    CUdeviceptr from = device_pointer(data);
    unsigned long long count = (size_bytes + kFlushVector - 1) / kFlushVector;
    unsigned long long bits = key.key;
    unsigned long long nonce = key.nonce;
    std::array<void*, 4> arguments{&from, &count, &bits, &nonce};
    launch_wide(veil_kernel_, arguments.data(), "veiling inputs");
  }

  void use_timing_kernels(std::string_view image) override {
    if (image.empty() || flush_kernel_ != nullptr) return;
    check(cuda_.cuModuleLoadData(&timing_module_, image.data()), "loading the timing kernels");
    check(cuda_.cuModuleGetFunction(&flush_kernel_, timing_module_, kFlushKernel),
          "finding the flush kernel");
    check(cuda_.cuModuleGetFunction(&hold_kernel_, timing_module_, kHoldKernel),
          "finding the kernel that holds a stream");
    check(cuda_.cuModuleGetFunction(&empty_kernel_, timing_module_, kEmptyKernel),
          "finding the empty kernel");
    check(cuda_.cuModuleGetFunction(&veil_kernel_, timing_module_, kVeilKernel),
          "finding the kernel that veils inputs");
    void* signals = nullptr;
    check(cuda_.cuMemHostAlloc(&signals, 2 * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP),
          "allocating the signals of a held stream");
    signals_ = static_cast<volatile unsigned*>(signals);
    check(cuda_.cuMemHostGetDevicePointer(&device_signals_, signals, 0),
          "mapping the signals of a held stream");
  }

  double time_ms(const std::function<void()>& call, bool held) override {
    const Hold hold(*this, held && hold_kernel_ != nullptr);
    check(cuda_.cuEventRecord(start_, nullptr), "cuEventRecord");
    call();
    check(cuda_.cuEventRecord(stop_, nullptr), "cuEventRecord");
    hold.release();
    check(cuda_.cuEventSynchronize(stop_), "the kernels failed");
    float ms = 0;
    check(cuda_.cuEventElapsedTime(&ms, start_, stop_), "cuEventElapsedTime");
    return static_cast<double>(ms);
  }
  std::string_view timing_method() const override { return "events"; }

  std::optional<double> replay_ms(const std::function<void()>& calls, bool held) override {
    CUgraph graph = capture(calls);
    if (graph == nullptr) return std::nullopt;
    CUgraphExec replay = nullptr;
    const CUresult made = cuda_.cuGraphInstantiate(&replay, graph, 0);
    cuda_.cuGraphDestroy(graph);
    if (made != CUDA_SUCCESS) return std::nullopt;
    const std::unique_ptr<CUgraphExec_st, decltype(cuda_.cuGraphExecDestroy)> owner(
        replay, cuda_.cuGraphExecDestroy);
    check(cuda_.cuGraphUpload(replay, nullptr), "uploading a graph");
    return time_ms([&] { check(cuda_.cuGraphLaunch(replay, nullptr), "replaying a graph"); }, held);
  }

  std::optional<std::vector<DeviceActivity>> record(const std::function<void()>& work) override {
    synchronize();
    return device_activity([&] {
      work();
      synchronize();
    });
  }

  std::optional<SmLimits> sm_limits() override {
    const auto limit = [this](CUdevice_attribute attribute) {
      int value = 0;
      check(cuda_.cuDeviceGetAttribute(&value, attribute, device_), "a multiprocessor's limits");
      return static_cast<std::uint32_t>(value);
    };
    return SmLimits{
        .warps = limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) /
                 limit(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .blocks = limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        .registers = limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        .shared_bytes = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        .reserved_shared_bytes = limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)};
  }

  std::optional<DeviceTimes> device_times(const std::function<void()>& call, bool held) override {
    const bool holds = held && hold_kernel_ != nullptr;
    auto activity = record([&] {
      const Hold hold(*this, holds);
      call();
    });
    if (!activity) return std::nullopt;
    // The first is kbench's own, whatever later ones are called.
    if (holds) {
      const auto own = std::ranges::find(*activity, kHoldKernel, &DeviceActivity::kernel);
      if (own != activity->end()) activity->erase(own);
    }
    return times_of(*activity);
  }

  bool launch_empty() override {
    if (empty_kernel_ == nullptr) return false;
    launch_thread(empty_kernel_, nullptr, "launching nothing");
    return true;
  }

  std::optional<double> overhead_ms(bool cold_cache, bool held) override {
    const std::pair way(cold_cache, held);
    auto known = overheads_.find(way);
    if (known == overheads_.end())
      known = overheads_.emplace(way, measure_overhead_ms(cold_cache, held)).first;
    return known->second;
  }

  bool take_hold_failed() override {
    if (signals_ == nullptr || signals_[1] == 0) return false;
    signals_[1] = 0;
    return true;
  }

  DeviceState state() override {
    if (!reader_) {
      std::array<char, 64> id{};
      cuda_.cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device_);
      reader_ = std::make_unique<GpuStateReader>(id.data());
    }
    return reader_->read();
  }

 private:
  /// What `work` queues, on a stream of its own instead of the one that waits for all others, as a
  /// graph; null where that cannot be had.
  CUgraph capture(const std::function<void()>& work) {
    if (capture_stream_ == nullptr)
      check(cuda_.cuStreamCreate(&capture_stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
    synchronize();
    if (cuda_.cuStreamBeginCapture(capture_stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
        CUDA_SUCCESS)
      return nullptr;
    stream_ = capture_stream_;
    bool captured = true;
    try {
      work();
    } catch (const CandidateFailure&) {
      captured = false;  // launched by itself it may be fine
    }
    stream_ = nullptr;
    CUgraph graph = nullptr;
    captured = cuda_.cuStreamEndCapture(capture_stream_, &graph) == CUDA_SUCCESS && captured;
    if (!captured && graph != nullptr) cuda_.cuGraphDestroy(graph);
    return captured ? graph : nullptr;
  }

  /// Of an empty kernel, what the events say less what CUPTI says of it.
  std::optional<double> measure_overhead_ms(bool cold_cache, bool held) {
    if (empty_kernel_ == nullptr) return std::nullopt;
    std::vector<double> by_events;
    const auto launch = [&] {
      by_events.clear();
      for (int i = 0; i < kOverheadCalls; ++i) {
        if (cold_cache) flush_cache();
        by_events.push_back(time_ms([this] { launch_empty(); }, held));
      }
      synchronize();
    };
    const auto activity = device_activity(launch);
    if (!activity) return std::nullopt;
    std::vector<double> by_cupti;
    for (const DeviceActivity& piece : *activity)
      if (piece.kernel == kEmptyKernel) by_cupti.push_back(times_of({&piece, 1})->span_ms);
    if (by_cupti.empty()) return std::nullopt;
    // Once more: who is looked at by CUPTI takes longer.
    launch();
    return std::max(median(by_events) - median(by_cupti), 0.0);
  }

  /// Keeps the stream from the next work on it until released, at the latest when it goes.
  class Hold {
   public:
    Hold(CudaDevice& device, bool held) : device_(device), held_(held) {
      if (!held) return;
      device.signals_[0] = 0;
      unsigned long long limit_ns = kHoldLimit_ms * 1'000'000;
      std::array<void*, 2> arguments{&device.device_signals_, &limit_ns};
      device.launch_thread(device.hold_kernel_, arguments.data(), "holding the stream");
    }
    ~Hold() { release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    void release() const {
      if (held_) device_.signals_[0] = 1;
    }

   private:
    CudaDevice& device_;
    bool held_;
  };

  /// Threads for all multiprocessors, which stride over memory.
  void launch_wide(CUfunction kernel, void** arguments, const char* doing) {
    CUlaunchConfig config{};
    config.gridDimX = kFlushBlocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = kFlushThreads;
    config.blockDimY = config.blockDimZ = 1;
    check(cuda_.cuLaunchKernelEx(&config, kernel, arguments, nullptr), doing);
  }

  /// A grid of one thread.
  void launch_thread(CUfunction kernel, void** arguments, const char* doing) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_;
    check(cuda_.cuLaunchKernelEx(&config, kernel, arguments, nullptr), doing);
  }

  SharedBuffer map_handle(CUmemGenericAllocationHandle handle, Fd fd, BufferLayout layout,
                          bool writable) {
    // One granule more than is mapped: whoever runs past the end faults.
    const std::size_t reserved = layout.mapped_bytes + granularity_;
    CUdeviceptr base = 0;
    check(cuda_.cuMemAddressReserve(&base, reserved, 0, 0, 0), "reserving addresses");
    check(cuda_.cuMemMap(base, layout.mapped_bytes, 0, handle, 0), "mapping memory");
    CUmemAccessDesc access{};
    access.location = allocation_.location;
    access.flags = writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    check(cuda_.cuMemSetAccess(base, layout.mapped_bytes, &access, 1), "opening memory");
    cuda_.cuMemRelease(handle);
    const auto unmap = [this, base, bytes = layout.mapped_bytes, reserved] {
      cuda_.cuMemUnmap(base, bytes);
      cuda_.cuMemAddressFree(base, reserved);
    };
    return SharedBuffer(layout, host_pointer(base), std::move(fd), unmap);
  }

  struct Code {
    CUmodule module = nullptr;
    std::map<std::string, CUfunction> functions;
    std::map<std::string, int> shared;
  };

  void load_into(Code& code, std::string_view image, const LaunchPlan& plan) {
    check(cuda_.cuModuleLoadData(&code.module, image.data()), "loading the code");
    for (const auto& launch : plan.launches) load_function(code, launch);
  }

  void load_function(Code& code, const LaunchPlan::Launch& launch) {
    CUfunction& function = code.functions[launch.symbol];
    if (function == nullptr)
      check(cuda_.cuModuleGetFunction(&function, code.module, launch.symbol.c_str()),
            fmt::format("finding kernel {}", launch.kernel));
    int& shared = code.shared[launch.symbol];
    shared = std::max(shared, static_cast<int>(launch.shared_bytes));
    // Above 48 KB a kernel must say so beforehand.
    check(
        cuda_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
        fmt::format("{} bytes of dynamic shared memory for {}", shared, launch.kernel));
  }

  std::string name_;
  const CudaDriver& cuda_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmemAllocationProp allocation_{};
  std::size_t granularity_ = 0;
  Code code_, other_;
  bool uses_other_ = false;
  std::vector<CUdeviceptr> addresses_;
  CUevent start_ = nullptr, stop_ = nullptr;
  CUstream stream_ = nullptr;  ///< of what is queued: the default one, but while it is captured
  CUstream capture_stream_ = nullptr;
  CUdeviceptr flush_ = 0;
  std::size_t flush_bytes_ = 0;
  CUmodule timing_module_ = nullptr;
  CUfunction flush_kernel_ = nullptr, hold_kernel_ = nullptr, empty_kernel_ = nullptr,
             veil_kernel_ = nullptr;
  /// By whether the cache is flushed and the stream held.
  std::map<std::pair<bool, bool>, std::optional<double>> overheads_;
  volatile unsigned* signals_ = nullptr;  ///< [0]: go on; [1]: a hold ended by itself
  CUdeviceptr device_signals_ = 0;
  std::unique_ptr<GpuStateReader> reader_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(int index) { return std::make_unique<CudaDevice>(index); }

}  // namespace kbench::worker

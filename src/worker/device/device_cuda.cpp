// SPDX-License-Identifier: MIT
#include "worker/device/device_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kbench/error.hpp"

namespace kbench::worker {
namespace {

struct ErrorRow {
  CUresult result;
  Outcome outcome;
  std::string_view cause;
};

/// The failures for CUDA errors of a candidate's call. Any other error is a crash with the error's
/// name.
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

}  // namespace

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

CudaDevice::CudaDevice(int index) : name_(fmt::format("cuda:{}", index)), cuda_(cuda_driver()) {
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
  check(cuda_.cuEventCreate(&queued_done_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

CudaDevice::~CudaDevice() {
  if (flush_ != 0) cuda_.cuMemFree(flush_);
  for (const Code& code : {code_, other_})
    if (code.module != nullptr) cuda_.cuModuleUnload(code.module);
  if (timing_module_ != nullptr) cuda_.cuModuleUnload(timing_module_);
  if (signals_ != nullptr) cuda_.cuMemFreeHost(const_cast<unsigned*>(signals_));
  if (guard_stream_ != nullptr) cuda_.cuStreamDestroy(guard_stream_);
  cuda_.cuEventDestroy(queued_done_);
}

std::size_t CudaDevice::free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cuda_.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

SharedBuffer CudaDevice::create(BufferLayout layout, bool) {
  CUmemGenericAllocationHandle handle = 0;
  check(cuda_.cuMemCreate(&handle, layout.mapped_bytes, &allocation_, 0),
        fmt::format("allocating {} bytes", layout.mapped_bytes));
  int fd = -1;
  check(
      cuda_.cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      "exporting memory");
  return map_handle(handle, Fd(fd), layout, true);
}

SharedBuffer CudaDevice::map(Fd fd, BufferLayout layout, bool writable) {
  CUmemGenericAllocationHandle handle = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes a descriptor by this type
  auto* descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd.value()));
  check(cuda_.cuMemImportFromShareableHandle(&handle, descriptor,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "importing memory");
  return map_handle(handle, std::move(fd), layout, writable);
}

SharedBuffer CudaDevice::allocate(BufferLayout layout) {
  CUmemGenericAllocationHandle handle = 0;
  check(cuda_.cuMemCreate(&handle, layout.mapped_bytes, &allocation_, 0),
        fmt::format("allocating {} bytes", layout.mapped_bytes));
  return map_handle(handle, Fd(), layout, true);
}

SharedBuffer CudaDevice::map_handle(CUmemGenericAllocationHandle handle, Fd fd, BufferLayout layout,
                                    bool writable) {
  // Reserves one unmapped granule more, so that accesses past the end fault.
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

void CudaDevice::fill(std::byte* data, std::uint8_t value, std::size_t size_bytes) {
  if (size_bytes > 0)
    check(cuda_.cuMemsetD8Async(device_pointer(data), value, size_bytes, nullptr), "memset");
}

void CudaDevice::fill_pattern(std::byte* data, std::uint64_t bits, std::size_t element_bytes,
                              std::size_t count) {
  if (count == 0) return;
  const CUdeviceptr to = device_pointer(data);
  const auto low = static_cast<std::uint32_t>(bits);
  const auto high = static_cast<std::uint32_t>(bits >> 32);
  if (element_bytes == 1) {
    fill(data, static_cast<std::uint8_t>(bits), count);
  } else if (element_bytes == 2) {
    check(cuda_.cuMemsetD16Async(to, static_cast<unsigned short>(bits), count, nullptr), "memset");
  } else if (element_bytes == 4) {
    check(cuda_.cuMemsetD32Async(to, low, count, nullptr), "memset");
  } else if (low == high) {
    check(cuda_.cuMemsetD32Async(to, low, 2 * count, nullptr), "memset");
  } else {
    check(cuda_.cuMemsetD2D32Async(to, 8, low, 1, count, nullptr), "memset");
    check(cuda_.cuMemsetD2D32Async(to + 4, 8, high, 1, count, nullptr), "memset");
  }
}

void CudaDevice::copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes > 0)
    check(cuda_.cuMemcpyDtoDAsync(device_pointer(to), device_pointer(from), size_bytes, nullptr),
          "memcpy");
}

void CudaDevice::read(std::byte* host, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes > 0) check(cuda_.cuMemcpyDtoH(host, device_pointer(from), size_bytes), "memcpy");
}

void CudaDevice::load(std::string_view image, const LaunchPlan& plan) {
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

void CudaDevice::open_whole() {
  // After a context has been created, only the stream-ordered memory pools remain to be opened. If
  // the device has none, they cannot be used later either.
  CUdeviceptr first = 0;
  if (cuda_.cuMemAllocAsync(&first, 1, nullptr) == CUDA_SUCCESS)
    cuda_.cuMemFreeAsync(first, nullptr);
  synchronize();
}

bool CudaDevice::load_other_build(std::string_view image, const LaunchPlan& plan) {
  try {
    load_into(other_, image, plan);
  } catch (const CandidateFailure&) {
    return false;  // the driver may be older than the compiler, or the build may need too many
                   // registers
  }
  return true;
}

void CudaDevice::load_into(Code& code, std::string_view image, const LaunchPlan& plan) {
  check(cuda_.cuModuleLoadData(&code.module, image.data()), "loading the code");
  for (const auto& launch : plan.launches) load_function(code, launch);
}

void CudaDevice::load_function(Code& code, const LaunchPlan::Launch& launch) {
  CUfunction& function = code.functions[launch.symbol];
  if (function == nullptr)
    check(cuda_.cuModuleGetFunction(&function, code.module, launch.symbol.c_str()),
          fmt::format("finding kernel {}", launch.kernel));
  int& shared = code.shared[launch.symbol];
  shared = std::max(shared, static_cast<int>(launch.shared_bytes));
  // Required if a kernel uses more than 48 KB.
  check(cuda_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
        fmt::format("{} bytes of dynamic shared memory for {}", shared, launch.kernel));
}

void CudaDevice::use_tensors(std::span<const KernelTensor> tensors) {
  addresses_.clear();
  for (const auto& tensor : tensors) addresses_.push_back(device_pointer(tensor.data));
}

void CudaDevice::launch(const LaunchPlan::Launch& launch) {
  std::vector<std::array<std::uint8_t, 8>> values(launch.arguments.size());
  std::vector<void*> pointers(launch.arguments.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto& argument = launch.arguments[i];
    values[i] = argument.bytes;
    if (argument.tensor)
      std::memcpy(values[i].data(), &addresses_.at(*argument.tensor), sizeof(CUdeviceptr));
    pointers[i] = values[i].data();
  }
  const LaunchConfig config(launch, nullptr);
  check(cuda_.cuLaunchKernelEx(config.get(),
                               (uses_other_ ? other_ : code_).functions.at(launch.symbol),
                               pointers.data(), nullptr),
        fmt::format("launching {} in line {}", launch.kernel, launch.line));
}

std::optional<SmLimits> CudaDevice::sm_limits() {
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

DeviceState CudaDevice::state() {
  if (!reader_) {
    std::array<char, 64> id{};
    cuda_.cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device_);
    reader_ = std::make_unique<GpuStateReader>(id.data());
  }
  return reader_->read();
}

std::unique_ptr<Device> open_cuda_device(int index) { return std::make_unique<CudaDevice>(index); }

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#include "worker/device/kernel_trace.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "worker/device/cuda_driver.hpp"
#include "worker/device/cupti_library.hpp"
#include "worker/device/hidden_memory.hpp"

namespace kbench::worker {
namespace {

struct LaunchRow {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  /// Index of the launched kernel among the call's parameters, in pointers.
  std::size_t place;
  /// Index of the stream among the call's parameters or, if `by_config`, among the fields of the
  /// configuration, which is the first parameter.
  std::size_t stream;
  bool by_config = false;
};

constexpr auto kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;
constexpr auto kDriver = CUPTI_CB_DOMAIN_DRIVER_API;

/// The calls that launch a kernel.
constexpr LaunchRow kLaunches[] = {
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0, 6},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, 0, 6},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000, 0, 6},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000, 0, 6},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, 1, 4, true},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060, 1, 4, true},
#if CUDA_VERSION >= 13000
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, 0, 6},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, 0, 6},
#endif
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 0, 5},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, 0, 5},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, 0, 5},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, 0, 5},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, 1, 4, true},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, 1, 4, true},
};

struct State {
  std::mutex mutex;
  std::set<CUfunction> functions;
  std::vector<std::string_view> objects;
  std::map<std::string, bool, std::less<>> is_own;  ///< by mangled name of the launched kernel
  std::map<std::string, std::uint32_t> ran;         ///< since start()
  std::uint64_t launched = 0, recorded = 0;         ///< since start()
  std::uint64_t read_back_bytes = 0;                ///< since start()
  std::size_t dropped = 0;
  CUpti_SubscriberHandle subscriber = nullptr;
};

/// Never destroyed, because threads of CUPTI and the candidate may call until the process ends.
State& state() {
  static auto* const kState = new State;
  return *kState;
}

/// Calls of the driver within a call of the runtime are the same launch.
thread_local int runtime_depth = 0;

/// True if the shared object was loaded from a descriptor or is in the candidate's folder.
bool is_own_object(const char* path) {
  const std::string_view text = path;
  if (text.starts_with("/proc/")) return true;
  std::array<char, 4096> folder{};
  return getcwd(folder.data(), folder.size()) != nullptr &&
         text.starts_with(std::string(folder.data()) + "/");
}

/// True if a launch through the runtime is the candidate's. The address of the kernel's stub
/// decides, unless the argument is a handle.
bool is_own_launch(const void* stub, std::string_view name) {
  Dl_info info{};
  if (dladdr(stub, &info) != 0 && info.dli_fname != nullptr)
    return is_own_object(info.dli_fname) && !is_library_kernel(name);
  return std::ranges::any_of(state().objects, [&](std::string_view bytes) {
    return bytes.find(name) != std::string_view::npos;
  });
}

const LaunchRow* launch_row(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto* row = std::ranges::find_if(
      kLaunches, [&](const LaunchRow& known) { return known.domain == domain && known.id == id; });
  return row == std::end(kLaunches) ? nullptr : row;
}

/// True if the launch is captured; the kernel then runs later, with its graph.
bool is_captured(const LaunchRow& row, const void* parameters) {
  const auto* fields = static_cast<void* const*>(parameters);
  if (row.by_config) fields = static_cast<void* const*>(fields[0]);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto stream = static_cast<CUstream>(fields[row.stream]);
  return cuda_driver().cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// The driver and the runtime both use zero for success.
bool has_succeeded(const CUpti_CallbackData& call) {
  return call.functionReturnValue != nullptr && *static_cast<int*>(call.functionReturnValue) == 0;
}

void CUPTIAPI on_launch(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const LaunchRow* row = launch_row(domain, id);
  if (row == nullptr) return;
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  if (domain == kRuntime) runtime_depth += enters ? 1 : -1;
  if (call.functionParams == nullptr || (domain == kDriver && runtime_depth > 0)) return;
  State& all = state();
  if (!enters) {
    if (!has_succeeded(call) || is_captured(*row, call.functionParams)) return;
    const std::lock_guard lock(all.mutex);
    ++all.launched;
    return;
  }
  if (call.symbolName == nullptr) return;
  void* const launched = static_cast<void* const*>(call.functionParams)[row->place];
  const std::string_view name = call.symbolName;
  const std::lock_guard lock(all.mutex);
  bool own = false;
  if (domain == kDriver)
    own = all.functions.contains(static_cast<CUfunction>(launched)) || !is_library_kernel(name);
  else
    own = is_own_launch(launched, name);
  all.is_own.insert_or_assign(std::string(name), own);
}

void take_records(const ActivityRecords& records) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for_records(records, [&](const CUpti_Activity& record) {
    if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      ++all.ran[name_of(reinterpret_cast<const KernelRecord&>(record))];
      ++all.recorded;
    }
    if (record.kind != CUPTI_ACTIVITY_KIND_MEMCPY) return;
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
    if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ||
        copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
      all.read_back_bytes += copy.bytes;
  });
  all.dropped += records.dropped;
}

}  // namespace

bool TraceEntry::is_read_back(std::size_t read_bytes, std::size_t calls) const {
  return calls > 0 && worker::is_read_back(read_back_bytes / calls, read_bytes);
}

void note_own_function(CUfunction function) {
  const std::lock_guard lock(state().mutex);
  state().functions.insert(function);
}

void note_own_object(std::string_view bytes) {
  const std::lock_guard lock(state().mutex);
  state().objects.push_back(bytes);
}

std::unique_ptr<KernelTrace> KernelTrace::open() {
  const Cupti* functions = cupti();
  State& all = state();
  if (functions == nullptr ||
      functions->cuptiSubscribe(&all.subscriber, on_launch, nullptr) != CUPTI_SUCCESS)
    return nullptr;
  std::unique_ptr<KernelTrace> trace(new KernelTrace);
  const bool records = show_activity_to(take_records) && trace->look(true);
  return records ? std::move(trace) : nullptr;
}

KernelTrace::~KernelTrace() {
  pause();
  cupti()->cuptiUnsubscribe(state().subscriber);
}

bool KernelTrace::look(bool at_kernels) {
  if (looks_ == at_kernels) return true;
  const Cupti& functions = *cupti();
  for (const LaunchRow& row : kLaunches)
    functions.cuptiEnableCallback(at_kernels ? 1 : 0, state().subscriber, row.domain, row.id);
  looks_ = at_kernels;
  const bool kernels = enable_activity(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, at_kernels);
  return enable_activity(CUPTI_ACTIVITY_KIND_MEMCPY, at_kernels) && kernels;
}

void KernelTrace::pause() { look(false); }

void KernelTrace::start() {
  look(true);
  cupti()->cuptiActivityFlushAll(0);
  const std::lock_guard lock(state().mutex);
  state().ran.clear();
  state().launched = state().recorded = 0;
  state().read_back_bytes = 0;
}

TraceEntry KernelTrace::stop() {
  const bool flushed = cupti()->cuptiActivityFlushAll(0) == CUPTI_SUCCESS;
  State& all = state();
  const std::lock_guard lock(all.mutex);
  TraceEntry entry;
  // If records are missing, other code has disabled them.
  entry.complete = flushed && all.dropped == 0 && all.recorded >= all.launched;
  entry.read_back_bytes = all.read_back_bytes;
  for (const auto& [name, count] : all.ran) {
    const auto launched = all.is_own.find(name);
    const bool own = launched != all.is_own.end() ? launched->second : !is_library_kernel(name);
    if (own)
      entry.own += count;
    else if (!computes_nothing(name))
      entry.library += count;
  }
  return entry;
}

}  // namespace kbench::worker

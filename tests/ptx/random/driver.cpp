// SPDX-License-Identifier: MIT
#include "ptx/random/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace kbench::ptx::random {
namespace {

using Pointer = unsigned long long;

constexpr int kStackLimit = 0;  // CU_LIMIT_STACK_SIZE
constexpr std::size_t kStackBytes =
    std::size_t{16} * 1024;                       // recursion: its depth is not known to ptxas
constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES
constexpr int kLevel = 7;                         // CU_JIT_OPTIMIZATION_LEVEL
constexpr std::size_t kLogBytes = 4096;

}  // namespace

/// The driver's functions that are used, by the names of their latest versions.
struct Gpu::Library {
  void* handle = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*set_current)(void*) = nullptr;
  int (*set_limit)(int, std::size_t) = nullptr;
  int (*load)(void**, const void*, unsigned, int*, void**) = nullptr;
  int (*unload)(void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) = nullptr;
  int (*synchronize)() = nullptr;
  int (*allocate)(Pointer*, std::size_t) = nullptr;
  int (*release)(Pointer) = nullptr;
  int (*upload)(Pointer, const void*, std::size_t) = nullptr;
  int (*download)(void*, Pointer, std::size_t) = nullptr;
  int (*error_name)(int, const char**) = nullptr;

  template <class F>
  bool find(F& f, const char* name) {
    f = reinterpret_cast<F>(dlsym(handle, name));
    return f != nullptr;
  }
  bool find_all() {
    return find(init, "cuInit") && find(device_get, "cuDeviceGet") &&
           find(device_name, "cuDeviceGetName") && find(retain, "cuDevicePrimaryCtxRetain") &&
           find(set_current, "cuCtxSetCurrent") && find(set_limit, "cuCtxSetLimit") &&
           find(load, "cuModuleLoadDataEx") && find(unload, "cuModuleUnload") &&
           find(function, "cuModuleGetFunction") && find(launch, "cuLaunchKernel") &&
           find(synchronize, "cuCtxSynchronize") && find(allocate, "cuMemAlloc_v2") &&
           find(release, "cuMemFree_v2") && find(upload, "cuMemcpyHtoD_v2") &&
           find(download, "cuMemcpyDtoH_v2") && find(error_name, "cuGetErrorName");
  }
};

Gpu::Gpu(std::unique_ptr<Library> library) : library_(std::move(library)) {}
// The context lives as long as the process, and the library with it.
Gpu::~Gpu() = default;

std::variant<std::unique_ptr<Gpu>, Failure> Gpu::open() {
  auto library = std::make_unique<Library>();
  library->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) return Failure{"no NVIDIA driver: libcuda.so.1 is missing"};
  if (!library->find_all()) return Failure{"libcuda.so.1 lacks functions of the driver API"};
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(library)));
  if (std::string error = gpu->start(); !error.empty()) return Failure{error};
  return gpu;
}

std::string Gpu::check(int code, const char* what) const {
  if (code == 0) return {};
  const char* name = nullptr;
  if (library_->error_name(code, &name) != 0 || name == nullptr) name = "unknown error";
  return fmt::format("{}: {} ({})", what, name, code);
}

std::string Gpu::start() {
  int device = 0;
  void* context = nullptr;
  std::array<char, 128> name{};
  auto error = check(library_->init(0), "cuInit");
  if (error.empty()) error = check(library_->device_get(&device, 0), "cuDeviceGet");
  if (error.empty()) {
    error = check(library_->device_name(name.data(), name.size(), device), "cuDeviceGetName");
  }
  if (error.empty()) error = check(library_->retain(&context, device), "cuDevicePrimaryCtxRetain");
  if (error.empty()) error = check(library_->set_current(context), "cuCtxSetCurrent");
  if (error.empty()) error = check(library_->set_limit(kStackLimit, kStackBytes), "cuCtxSetLimit");
  name_ = name.data();
  return error;
}

std::string Gpu::launch(const Kernel& kernel, void* module, Outputs& outputs) {
  struct Buffer {
    std::vector<std::byte>* host;
    Pointer device = 0;
  };
  std::vector<std::byte> input = kernel.input;
  std::array<Buffer, 4> buffers{
      {{&input}, {&outputs.results}, {&outputs.own}, {&outputs.counters}}};
  std::string error;
  for (Buffer& buffer : buffers) {
    if (error.empty())
      error = check(library_->allocate(&buffer.device, buffer.host->size()), "cuMemAlloc");
    if (!error.empty()) break;
    error = check(library_->upload(buffer.device, buffer.host->data(), buffer.host->size()),
                  "cuMemcpyHtoD");
  }
  void* function = nullptr;
  if (error.empty())
    error = check(library_->function(&function, module, "k"), "cuModuleGetFunction");
  std::array<std::uint64_t, 3> scalars = kernel.scalars;
  std::array<void*, 7> parameters{&buffers[0].device, &buffers[1].device, &buffers[2].device,
                                  &buffers[3].device, &scalars[0],        &scalars[1],
                                  &scalars[2]};
  if (error.empty()) {
    error =
        check(library_->launch(function, kernel.grid, 1, 1, kernel.block / kernel.rows, kernel.rows,
                               1, kernel.dynamic_shared_bytes, nullptr, parameters.data(), nullptr),
              "cuLaunchKernel");
  }
  if (error.empty()) error = check(library_->synchronize(), "cuCtxSynchronize");
  for (Buffer& buffer : buffers) {
    if (error.empty()) {
      error = check(library_->download(buffer.host->data(), buffer.device, buffer.host->size()),
                    "cuMemcpyDtoH");
    }
    if (buffer.device != 0) library_->release(buffer.device);
  }
  return error;
}

std::variant<Outputs, Failure> Gpu::run(const Kernel& kernel, Assembly assembly) {
  std::string log(kLogBytes, '\0');
  std::array<int, 3> options{kErrorLog, kErrorLogBytes, kLevel};
  const std::uintptr_t level = assembly == Assembly::kPlain ? 0 : 4;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): numbers travel as pointers
  std::array<void*, 3> values{log.data(), reinterpret_cast<void*>(kLogBytes),
                              reinterpret_cast<void*>(level)};
  void* module = nullptr;
  auto error = check(library_->load(&module, kernel.ptx.c_str(), 3, options.data(), values.data()),
                     "cuModuleLoadDataEx");
  if (!error.empty()) return Failure{error + ": " + log.c_str()};
  Outputs outputs = first_outputs(kernel);
  error = launch(kernel, module, outputs);
  if (!error.empty()) return Failure{error};
  library_->unload(module);
  replace_nans(kernel, outputs);
  return outputs;
}

}  // namespace kbench::ptx::random

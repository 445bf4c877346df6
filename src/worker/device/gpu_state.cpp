// SPDX-License-Identifier: MIT
#include "worker/device/gpu_state.hpp"

#include <dlfcn.h>

namespace kbench::worker {
namespace {

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

GpuStateReader::GpuStateReader(const char* pci_bus_id) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return;
  const auto init = symbol<int (*)()>(library, "nvmlInit_v2");
  const auto find =
      symbol<int (*)(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || find == nullptr || init() != 0 || find(pci_bus_id, &device_) != 0) {
    device_ = nullptr;
    return;
  }
  clock_ = symbol<Numbered>(library, "nvmlDeviceGetClockInfo");
  temperature_ = symbol<Numbered>(library, "nvmlDeviceGetTemperature");
  power_ = symbol<int (*)(void*, unsigned*)>(library, "nvmlDeviceGetPowerUsage");
  reasons_ = symbol<int (*)(void*, unsigned long long*)>(
      library, "nvmlDeviceGetCurrentClocksThrottleReasons");
}

DeviceState GpuStateReader::read() const {
  constexpr int kSmClock = 1, kOfGpu = 0;  // NVML_CLOCK_SM, NVML_TEMPERATURE_GPU
  DeviceState state;
  if (device_ == nullptr) return state;
  state.clock_mhz = numbered(clock_, kSmClock);
  state.temperature_c = numbered(temperature_, kOfGpu);
  unsigned milliwatts = 0;
  if (power_ != nullptr && power_(device_, &milliwatts) == 0) state.power_w = milliwatts * 1e-3;
  unsigned long long reasons = 0;
  if (reasons_ != nullptr && reasons_(device_, &reasons) == 0) state.throttle_reasons = reasons;
  return state;
}

double GpuStateReader::numbered(Numbered function, int which) const {
  unsigned value = 0;
  return function != nullptr && function(device_, which, &value) == 0 ? value : 0;
}

}  // namespace kbench::worker

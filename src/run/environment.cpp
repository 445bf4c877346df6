// SPDX-License-Identifier: MIT
#include "run/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "kbench/profile.hpp"
#include "os/installation.hpp"
#include "os/sandbox/sandbox.hpp"
#include "run/devices.hpp"

namespace kbench::run {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  constexpr std::string_view kField = "model name";
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with(kField)) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

std::string driver_version() {
  std::string version;
  std::ifstream("/sys/module/nvidia/version") >> version;
  return version;
}

nlohmann::json environment_of(const Installation& installation,
                              const std::vector<QueueDevice>& devices,
                              const std::string& nvrtc_version) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const auto& device : devices) {
    if (!device.gpu) continue;
    gpus.push_back(
        {{"index", device.gpu->index},
         {"name", device.gpu->name},
         {"uuid", device.gpu->uuid},
         {"compute", fmt::format("{}.{}", device.gpu->compute_major, device.gpu->compute_minor)},
         {"driver_cuda", device.gpu->driver_version}});
    if (const auto peaks = peaks_of(*device.gpu)) {
      gpus.back()["memory_gb_s"] = std::round(peaks->memory_bytes_s / 1e9);
      gpus.back()["l2_bytes"] = device.gpu->l2_bytes;
    }
    if (device.measured) gpus.back()["measured"] = to_json(*device.measured);
  }
  utsname system{};
  uname(&system);
  return {{"gpus", gpus},
          {"driver", devices.front().gpu ? driver_version() : ""},
          {"device", devices.front().model},
          {"torch", installation.torch_version},
          {"cuda", installation.cuda_version},
          {"nvrtc", nvrtc_version},
          {"python", installation.python_version},
          {"cpu", cpu_model()},
          {"cpu_cores", std::thread::hardware_concurrency()},
          {"memory_bytes", total_memory_bytes()},
          {"kernel", system.release},
          {"host_compiler",
           fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)}};
}

nlohmann::json sandbox_json(bool sandboxed) {
  if (!sandboxed) return "none";
  const SandboxParts parts = probe_sandbox();
  nlohmann::json has = nlohmann::json::array();
  nlohmann::json lacks = nlohmann::json::array();
  for (const auto& row : sandbox_parts()) (parts.has(row.part) ? has : lacks).push_back(row.name);
  return {{"has", has}, {"lacks", lacks}};
}

std::size_t total_memory_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string iso_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace kbench::run

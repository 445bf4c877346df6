// SPDX-License-Identifier: MIT
#include "run/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "os/device_probe.hpp"

namespace kbench {
namespace {

constexpr std::array<Precision, 4> kPrecisions{{
    {"native", "the problem's own types; fp32 without TF32"},
    {"tf32", "TF32 allowed for candidate and reference"},
    {"fp16", "floating tensors as float16"},
    {"bf16", "floating tensors as bfloat16"},
}};

QueueDevice queue_device_of(const GpuInfo& gpu) {
  return {fmt::format("cuda:{}", gpu.index), gpu.name, gpu};
}

std::vector<QueueDevice> numbered(std::string_view option, std::string_view numbers,
                                  const std::vector<GpuInfo>& gpus) {
  std::vector<QueueDevice> devices;
  for (bool more = true; more;) {
    const auto comma = std::min(numbers.find(','), numbers.size());
    const auto word = numbers.substr(0, comma);
    more = comma < numbers.size();
    numbers.remove_prefix(more ? comma + 1 : comma);
    const auto index = to_number<int>(word);
    if (!index)
      throw UsageError(fmt::format("--device {}: '{}' is not the number of a GPU", option, word));
    const auto found = std::ranges::find(gpus, *index, &GpuInfo::index);
    if (found == gpus.end())
      throw UsageError(fmt::format("--device {}: there is no GPU {}; this machine has {}", option,
                                   *index, gpus.size()));
    QueueDevice device = queue_device_of(*found);
    if (std::ranges::find(devices, device.name, &QueueDevice::name) != devices.end())
      throw UsageError(fmt::format("--device {}: GPU {} is named twice", option, *index));
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace

std::span<const Precision> precisions() { return kPrecisions; }

std::vector<QueueDevice> choose_devices(std::string_view option, const std::vector<GpuInfo>& gpus) {
  if (option == "cpu" || (option == "auto" && gpus.empty())) return {{"cpu", "cpu", std::nullopt}};
  if (gpus.empty() && option.starts_with("cuda"))
    throw UsageError(fmt::format(
        "--device {}: kbench found no usable GPU; use --device cpu, or run kbench doctor", option));
  if (option == "auto" || option == "cuda") return {queue_device_of(gpus.front())};
  constexpr std::string_view kPrefix = "cuda:";
  if (option.starts_with(kPrefix) && option.size() > kPrefix.size())
    return numbered(option, option.substr(kPrefix.size()), gpus);
  throw UsageError(
      fmt::format("--device {}: unknown device; write auto, cpu, cuda, or cuda:0,1", option));
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "run/schedule/queue_device.hpp"

#include <fmt/format.h>

#include "run/devices.hpp"

namespace kbench::run {
namespace {

constexpr DeviceLimits kCpuLimits{16, 227 * std::int64_t{1024}, 1024};
constexpr const char* kCpuArch = "compute_90a";

}  // namespace

DeviceLimits limits_of(const QueueDevice& device) {
  if (!device.gpu) return kCpuLimits;
  return {device.gpu->sms, device.gpu->shared_bytes_per_block, 1024};
}

std::string arch_of(const QueueDevice& device) {
  if (!device.gpu) return kCpuArch;
  // From 9.0 on, some instructions exist only with the suffix.
  return fmt::format("sm_{}{}{}", device.gpu->compute_major, device.gpu->compute_minor,
                     device.gpu->compute_major >= 9 ? "a" : "");
}

}  // namespace kbench::run

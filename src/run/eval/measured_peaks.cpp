// SPDX-License-Identifier: MIT
#include "run/eval/measured_peaks.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"
#include "kbench/error.hpp"
#include "run/devices.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {
namespace {

namespace fs = std::filesystem;

std::optional<Peaks> read_peaks(const fs::path& file) {
  try {
    std::ifstream stream(file);
    if (stream) return peaks_from_json(nlohmann::json::parse(stream));
  } catch (const nlohmann::json::exception&) {
    // The file is truncated, so the device is measured again.
  } catch (const Error&) {
  }
  return std::nullopt;
}

}  // namespace

std::optional<Peaks> measured_peaks(WorkerHost& host, const QueueDevice& device,
                                    const fs::path& folder, int cancel_fd) {
  if (!device.gpu) return std::nullopt;
  const fs::path file = folder / fmt::format("{}-{}-{}.json", device.gpu->uuid,
                                             device.gpu->driver_version, host.torch_version());
  if (const auto known = read_peaks(file)) return known;
  try {
    JudgeClient judge(host, cancel_fd, device.visible_gpu());
    const auto measured = judge.measure(device.name_inside());
    const auto* peaks = std::get_if<Peaks>(&measured);
    if (peaks == nullptr) return std::nullopt;
    replace_file(file, to_json(*peaks).dump() + '\n');
    return *peaks;
  } catch (const Error&) {
    return std::nullopt;  // the first candidate meets the same error and reports it
  }
}

}  // namespace kbench::run

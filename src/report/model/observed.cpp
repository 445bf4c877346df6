// SPDX-License-Identifier: MIT
#include "report/model/observed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

/// "950", "12.3 k", "1.20 G": three digits.
std::string quantity(double value) {
  constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, kUnits[unit]);
}

std::string two_digits(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : std::string(kNoValue);
}

std::string milliseconds(const std::optional<double>& ms) {
  return ms ? duration(*ms) : std::string(kNoValue);
}

std::string shape(const std::array<std::uint32_t, 3>& extents) {
  if (extents[2] > 1) return fmt::format("({}, {}, {})", extents[0], extents[1], extents[2]);
  if (extents[1] > 1) return fmt::format("({}, {})", extents[0], extents[1]);
  return std::to_string(extents[0]);
}

std::string launch_name(const KernelProfile& profile) {
  std::string text =
      fmt::format("{}<<<{}, {}>>>", profile.kernel, shape(profile.grid), shape(profile.block));
  if (profile.launches > 1) text += fmt::format(" × {}", profile.launches);
  return printable(text);
}

bool is_of_gpu(const Record& record) {
  return !record.profile.empty() && record.profile.front().gpu.has_value();
}

std::vector<std::vector<std::string>> gpu_rows(const Record& record) {
  double whole_ms = 0;
  for (const KernelProfile& profile : record.profile) whole_ms += profile.gpu ? profile.gpu->ms : 0;
  std::vector<std::vector<std::string>> rows;
  for (const KernelProfile& profile : record.profile) {
    const GpuLaunches gpu = profile.gpu.value_or(GpuLaunches{});
    const double shared = gpu.static_shared_bytes + gpu.dynamic_shared_bytes;
    rows.push_back(
        {launch_name(profile), duration(gpu.ms),
         whole_ms > 0 ? fmt::format("{:.0f} %", 100 * gpu.ms / whole_ms) : std::string(kNoValue),
         std::to_string(gpu.registers), fmt::format("{:.3g}", shared / 1024),
         gpu.occupancy ? fmt::format("{:.0f} %", 100 * *gpu.occupancy) : std::string(kNoValue)});
  }
  return rows;
}

template <typename Has>
std::vector<std::size_t> candidates_with(const Report& report, Has has) {
  std::vector<std::size_t> found;
  for (const std::size_t index : report.candidates)
    if (has(report.run.records[index])) found.push_back(index);
  return found;
}

}  // namespace

std::vector<std::size_t> with_findings(const Report& report) {
  return candidates_with(report, [](const Record& record) {
    // The failure's own message already reports a fault.
    return record.left.findings ||
           std::ranges::any_of(record.findings, [](const Finding& f) { return !is_fault(f); });
  });
}

std::vector<std::size_t> with_profile(const Report& report) {
  return candidates_with(report, [](const Record& record) {
    return !record.profile.empty() || record.left.profile || record.estimate;
  });
}

std::string finding_text(const Finding& finding) {
  return printable(fmt::format("{}: {}{}", finding.kind, finding.message,
                               finding.count > 1 ? fmt::format(" ({} times)", finding.count) : ""));
}

std::span<const std::string_view> profile_columns(const Record& record) {
  static constexpr std::string_view kCounted[] = {"kernel",      "instructions", "lanes",
                                                  "sectors/req", "unique MB",    "conflicts",
                                                  "flops",       "estimate"};
  static constexpr std::string_view kOnGpu[] = {"kernel",    "time",      "fraction",
                                                "registers", "shared kB", "occupancy"};
  return is_of_gpu(record) ? std::span<const std::string_view>(kOnGpu) : kCounted;
}

std::string fitted_launch(std::string_view launch, std::size_t width) {
  constexpr std::size_t kLeast = 8;
  const std::size_t at = launch.rfind("<<<");
  if (columns(launch) <= width || at == std::string_view::npos) return fitted_name(launch, width);
  const std::size_t shapes = columns(launch.substr(at));
  if (shapes + kLeast > width) return fitted_name(launch, width);
  return fitted(launch.substr(0, at), width - shapes) + std::string(launch.substr(at));
}

std::string bandwidth_text(const Record& record) {
  if (!is_of_gpu(record) || !record.sol || !record.timing) return {};
  const auto side = record.timing->sides.find("candidate");
  if (side == record.timing->sides.end() || side->second.median_ms <= 0) return {};
  const auto bytes =
      static_cast<double>(record.sol->work.read_bytes + record.sol->work.written_bytes);
  return fmt::format("at least {}B/s: the bytes that a call must read and write, over its time",
                     quantity(bytes / (side->second.median_ms / 1e3)));
}

std::string_view profile_note(const Record& record) {
  return record.estimate
             ? "Ideal are lanes 1, sectors/req at most 4 for floats (the worst is 32), conflicts "
               "0. "
               "Estimates come from bytes and operations over a data sheet's peaks plus launch "
               "cost, at the sizes of this run. They are not measurements, and metrics do not "
               "count them."
             : "";
}

std::vector<std::vector<std::string>> profile_rows(const Record& record) {
  if (is_of_gpu(record)) return gpu_rows(record);
  const GpuModel* gpu = record.estimate ? find_gpu_model(record.estimate->gpu) : nullptr;
  std::vector<std::vector<std::string>> rows;
  for (const KernelProfile& profile : record.profile) {
    const Counters& counters = profile.counters;
    rows.push_back(
        {launch_name(profile), quantity(static_cast<double>(executed(counters).warps)),
         two_digits(lane_efficiency(counters)), two_digits(sectors_per_request(counters)),
         fmt::format("{:.3g}", static_cast<double>(unique_bytes(counters)) / 1e6),
         quantity(static_cast<double>(counters.shared_conflicts)),
         quantity(static_cast<double>(total_flops(counters))),
         gpu == nullptr ? std::string(kNoValue) : milliseconds(estimated_ms(profile, *gpu))});
  }
  return rows;
}

std::string estimate_text(const Record& record) {
  if (!record.estimate) return {};
  const TimeEstimate& estimate = *record.estimate;
  return printable(fmt::format("estimate for {}: {}, reference {}: {}", estimate.gpu,
                               milliseconds(estimate.candidate_ms),
                               milliseconds(estimate.reference_ms), factor(estimate.ratio())));
}

std::string short_estimate(const Record& record) {
  if (!record.estimate) return {};
  return fmt::format("{} {}", milliseconds(record.estimate->candidate_ms),
                     factor(record.estimate->ratio()));
}

std::string estimated_gpu(const Report& report) {
  for (const std::size_t index : report.candidates)
    if (const auto& estimate = report.run.records[index].estimate) return printable(estimate->gpu);
  return {};
}

}  // namespace kbench::report

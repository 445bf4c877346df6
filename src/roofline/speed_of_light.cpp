// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json/fields.hpp"
#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "os/device_probe.hpp"
#include "roofline/from_view.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// Dense operations per multiprocessor and clock, by FlopType: fp64, fp32, tf32, bf16, fp16, fp8,
/// int8, int4. An FMA counts as two; the faster of plain and tensor cores is taken. Sources:
/// throughput tables of the CUDA C++ Programming Guide (plain) and the architectures' white papers
/// (tensor cores).
struct Architecture {
  int major, minor;
  std::array<double, kFlopTypes> flops_per_clock;
};
constexpr Architecture kArchitectures[] = {
    {7, 0, {64, 128, 0, 0, 1024, 0, 256, 0}},
    {7, 5, {4, 128, 0, 0, 1024, 0, 2048, 4096}},
    {8, 0, {128, 128, 1024, 2048, 2048, 0, 4096, 8192}},
    {8, 6, {4, 256, 512, 1024, 1024, 0, 2048, 4096}},
    {8, 7, {4, 256, 512, 1024, 1024, 0, 2048, 4096}},
    {8, 9, {4, 256, 512, 1024, 1024, 2048, 2048, 4096}},
    {9, 0, {256, 256, 2048, 4096, 4096, 8192, 8192, 0}},
    {10, 0, {128, 256, 4096, 8192, 8192, 16384, 16384, 0}},
    {12, 0, {4, 256, 512, 1024, 1024, 2048, 2048, 0}},
};

/// Number of tf32 products that together are as accurate as one fp32 product.
constexpr double kTf32Products = 3;
constexpr std::size_t kFp32 = static_cast<std::size_t>(FlopType::kFp32);
constexpr std::size_t kTf32 = static_cast<std::size_t>(FlopType::kTf32);
constexpr double kMilli = 1e3;

double compute_ms(const LeastWork& work, const Peaks& peaks) {
  double longest = 0;
  for (std::size_t type = 0; type < kFlopTypes; ++type)
    if (peaks.flops_s[type] > 0)
      longest =
          std::max(longest, static_cast<double>(work.flops[type]) / peaks.flops_s[type] * kMilli);
  return longest;
}

double move_ms(double bytes, const Peaks& peaks) {
  return std::max(bytes, 0.0) / peaks.memory_bytes_s * kMilli;
}

void raise_fp32(Peaks& peaks) {
  peaks.flops_s[kFp32] = std::max(peaks.flops_s[kFp32], peaks.flops_s[kTf32] / kTf32Products);
}

}  // namespace

std::optional<Peaks> peaks_of(const GpuInfo& gpu) {
  // Data is transferred on both clock edges.
  const double memory = 2.0 * gpu.memory_clock_khz * 1e3 * gpu.memory_bus_bits / 8;
  if (!(memory > 0)) return std::nullopt;
  Peaks peaks{.memory_bytes_s = memory, .l2_bytes = static_cast<double>(gpu.l2_bytes)};
  const auto found = std::ranges::find_if(kArchitectures, [&](const Architecture& row) {
    return row.major == gpu.compute_major && row.minor == gpu.compute_minor;
  });
  if (found == std::end(kArchitectures)) return peaks;
  const double clocks_s = static_cast<double>(gpu.sms) * gpu.clock_khz * 1e3;
  for (std::size_t type = 0; type < kFlopTypes; ++type)
    peaks.flops_s[type] = found->flops_per_clock[type] * clocks_s;
  raise_fp32(peaks);
  return peaks;
}

Peaks measured_over(const Peaks& peaks, const Peaks& measured) {
  Peaks over = peaks;
  if (measured.memory_bytes_s > 0) over.memory_bytes_s = measured.memory_bytes_s;
  for (std::size_t type = 0; type < kFlopTypes; ++type)
    if (measured.flops_s[type] > 0) over.flops_s[type] = measured.flops_s[type];
  raise_fp32(over);
  return over;
}

SpeedOfLight speed_of_light(const LeastWork& work, const std::optional<Peaks>& peaks,
                            std::optional<double> time_ms) {
  SpeedOfLight sol{.work = work, .limit_ms = {}, .limited_by = {}, .share = {}};
  if (!peaks) return sol;
  const double memory = move_ms(
      static_cast<double>(work.read_bytes) + static_cast<double>(work.written_bytes), *peaks);
  const double compute = compute_ms(work, *peaks);
  sol.limit_ms = std::max(memory, compute);
  sol.limited_by = compute > memory ? "compute" : "memory";
  if (time_ms && std::isfinite(*time_ms) && *time_ms > 0)
    sol.share = std::min(*sol.limit_ms / *time_ms, 1.0);
  return sol;
}

double least_write_ms(const LeastWork& work, const Peaks& peaks) {
  return move_ms(static_cast<double>(work.written_bytes) - peaks.l2_bytes, peaks);
}

double least_call_ms(const LeastWork& work, const Peaks& peaks, bool cold_cache) {
  const double warm = cold_cache ? 0 : peaks.l2_bytes;
  return std::max(move_ms(static_cast<double>(work.read_bytes) - warm, peaks),
                  compute_ms(work, peaks));
}

json to_json(const Peaks& peaks) {
  return {{"memory_bytes_s", peaks.memory_bytes_s}, {"flops_s", by_type(peaks.flops_s)}};
}

Peaks peaks_from_json(const json& object) {
  const JsonReader reader(object);
  const Fields fields(reader.root());
  Peaks peaks{.memory_bytes_s = fields.number("memory_bytes_s")};
  const JsonView flops = fields.object("flops_s");
  for (const JsonView rate : flops)
    if (const auto type = flop_type_from_name(rate.key()))
      peaks.flops_s[static_cast<std::size_t>(*type)] = Fields(flops).number(rate.key());
  return peaks;
}

json to_json(const LeastWork& work) {
  return {{"read_bytes", work.read_bytes},
          {"written_bytes", work.written_bytes},
          {"flops", by_type(work.flops)}};
}

LeastWork least_work_from_json(const json& object) {
  return least_work_from(JsonReader(object).root());
}

LeastWork least_work_from(JsonView object) {
  const Fields fields(object);
  LeastWork work;
  work.read_bytes = fields.integer<std::uint64_t>("read_bytes");
  work.written_bytes = fields.integer<std::uint64_t>("written_bytes");
  const Fields flops(fields.object("flops"));
  for (const JsonView count : fields.object("flops")) {
    const std::optional<FlopType> type = flop_type_from_name(count.key());
    if (!type)
      throw Error(fmt::format("field \"flops\" counts the unknown type \"{}\"", count.key()));
    work.flops[static_cast<std::size_t>(*type)] = flops.integer<std::uint64_t>(count.key());
  }
  return work;
}

json to_json(const SpeedOfLight& sol) {
  json object = to_json(sol.work);
  object["limit_ms"] = number_or_null(sol.limit_ms);
  object["limited_by"] = sol.limited_by.empty() ? json() : json(sol.limited_by.str());
  object["share"] = number_or_null(sol.share);
  if (sol.share_measured) object["share_measured"] = *sol.share_measured;
  if (sol.plausible_ms) object["plausible_ms"] = *sol.plausible_ms;
  return object;
}

SpeedOfLight speed_of_light_from_json(const json& object) {
  return speed_of_light_from(JsonReader(object).root());
}

SpeedOfLight speed_of_light_from(JsonView object) {
  const Fields fields(object);
  SpeedOfLight sol{.work = least_work_from(object),
                   .limit_ms = fields.maybe_number("limit_ms"),
                   .limited_by = {},
                   .share = fields.maybe_number("share"),
                   .share_measured = fields.maybe_number("share_measured"),
                   .plausible_ms = fields.maybe_number("plausible_ms")};
  if (fields.maybe("limited_by")) sol.limited_by = fields.text("limited_by");
  return sol;
}

}  // namespace kbench

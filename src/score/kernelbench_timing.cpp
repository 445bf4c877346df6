// SPDX-License-Identifier: MIT
#include "score/kernelbench_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"
#include "base/python_json.hpp"
#include "kbench/error.hpp"
#include "problem/files.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMaxTimingBytes = 64u << 20;
constexpr std::string_view kPrefix = "baseline_time_";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One row per baseline that has a name in both programs; others keep KernelBench's name.
struct BaselineName {
  std::string_view kbench, file;
};
constexpr BaselineName kBaselines[] = {
    {"eager", "baseline_time_torch"},
    {"compile", "baseline_time_torch_compile_inductor_default"},
};

std::optional<double> number_field(const json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

/// The files that a path of `--baseline-file` names: itself, or those in the folder.
std::vector<fs::path> timing_files(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw UsageError(fmt::format("--baseline-file {}: no such file or folder", path.string()));
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const fs::path& file : list_folder(path).files) {
    if (file.extension() == ".json" && file.stem().native().starts_with(kPrefix))
      files.push_back(file);
  }
  if (files.empty()) {
    throw UsageError(fmt::format(
        "--baseline-file {}: the folder has no {}*.json; name the folder of one machine, as in "
        "results/timing/H100",
        path.string(), kPrefix));
  }
  return files;
}

void add_level(BaselineTimes& all, int level, const json& problems) {
  for (const auto& [name, stats] : problems.items()) {
    if (!stats.is_object()) continue;
    if (const std::string hardware = text_field(stats, "hardware"); !hardware.empty())
      all.hardware.insert(hardware);
    const std::string stem = name.ends_with(".py") ? name.substr(0, name.size() - 3) : name;
    if (const auto time = side_timing(stats)) all.times[{level, stem}] = *time;
  }
}

BaselineTimes read_file_of_times(const fs::path& path) {
  const auto fail = [&](std::string_view what) {
    return UsageError(
        fmt::format("cannot use the baseline times {}: the file {}", path.string(), what));
  };
  const FileBytes file = read_file(path, kMaxTimingBytes);
  if (!file.error.empty()) throw fail("cannot be read: " + file.error);
  BaselineTimes all;
  all.baseline = baseline_of_file(path.stem().native());
  all.file = path;
  bool any_level = false;
  try {
    const json content = parse_python_json(file.bytes);
    if (!content.is_object()) throw Error("is not a JSON object");
    for (const auto& [key, problems] : content.items()) {
      const auto level = level_of_folder(key);
      if (!level || !problems.is_object()) continue;
      any_level = true;
      add_level(all, *level, problems);
    }
  } catch (const Error& error) {
    throw fail(error.what());
  }
  if (!any_level) throw fail("has no level; it should look like {\"level1\": {\"19_ReLU.py\": …}}");
  return all;
}

/// The order of baselines: eager, compile, then all others.
std::size_t rank(const BaselineTimes& times) {
  const auto* row = std::ranges::find(kBaselines, times.baseline, &BaselineName::kbench);
  return static_cast<std::size_t>(row - std::begin(kBaselines));
}

}  // namespace

std::string text_field(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<SideTiming> side_timing(const json& stats) {
  if (!stats.is_object()) return std::nullopt;
  const auto mean = number_field(stats, "mean");
  if (!mean || *mean == 0) return std::nullopt;
  SideTiming side;
  side.mean_ms = *mean;
  side.median_ms = number_field(stats, "median").value_or(kUnknown);
  side.std_ms = number_field(stats, "std").value_or(kUnknown);
  side.min_ms = number_field(stats, "min").value_or(kUnknown);
  side.max_ms = number_field(stats, "max").value_or(kUnknown);
  const double count = number_field(stats, "num_trials").value_or(0);
  side.count = count < 1e15 ? static_cast<std::int64_t>(count) : 0;
  return side;
}

std::string baseline_of_file(std::string_view stem) {
  for (const BaselineName& row : kBaselines) {
    if (row.file == stem) return std::string(row.kbench);
  }
  if (stem.starts_with(kPrefix)) stem.remove_prefix(kPrefix.size());
  return std::string(stem);
}

std::string file_of_baseline(std::string_view baseline) {
  for (const BaselineName& row : kBaselines) {
    if (row.kbench == baseline) return std::string(row.file);
  }
  return fmt::format("{}{}", kPrefix, baseline);
}

std::vector<BaselineTimes> read_baseline_times(const std::vector<fs::path>& paths) {
  std::vector<BaselineTimes> all;
  for (const fs::path& path : paths) {
    for (const fs::path& file : timing_files(path)) {
      BaselineTimes times = read_file_of_times(file);
      const auto other = std::ranges::find(all, times.baseline, &BaselineTimes::baseline);
      if (other != all.end()) {
        throw UsageError(fmt::format("--baseline-file: {} and {} are both times of the baseline {}",
                                     other->file.string(), file.string(), times.baseline));
      }
      all.push_back(std::move(times));
    }
  }
  std::ranges::stable_sort(all, {}, rank);
  return all;
}

}  // namespace kbench

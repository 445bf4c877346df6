// SPDX-License-Identifier: MIT
#include "report/compare/compared_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "report/model/run_settings.hpp"
#include "report/model/run_summary.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::string_view kCpu = "cpu";

/// Names of the records' devices; without records, of the device in the run's header line.
std::string devices(const RunFile& run) {
  std::set<Interned> names;
  for (const Record& record : run.records) names.insert(record.device);
  std::string text;
  for (const Interned& name : names) add_part(text, "", printable(name.str()));
  return text.empty() ? environment(run, "device") : text;
}

}  // namespace

std::string run_summary(const RunFile& run) {
  std::string text = devices(run);
  add_part(text, "driver ", environment(run, "driver"));
  add_part(text, "CUDA ", environment(run, "cuda"));
  add_part(text, "kbench ", version_text(run));
  std::set<Interned> problems, models;
  for (const Record& record : run.records) {
    problems.insert(record.problem);
    models.insert(record.model);
  }
  add_part(text, "",
           fmt::format("{} of {}, {}", counted(run.records.size(), "record"),
                       counted(problems.size(), "problem"), counted(models.size(), "model")));
  add_part(text, "run ", run_text(run));
  return text;
}

std::vector<std::string> run_warnings(const RunFile& run) {
  std::vector<std::string> all = warnings(run);
  std::set<std::tuple<Interned, Interned, int>> judged;
  for (const Record& record : run.records)
    judged.emplace(record.problem, record.model, record.sample);
  const auto open = std::ranges::count_if(run.manifest, [&](const ManifestEntry& entry) {
    return !judged.contains({entry.problem, entry.model, entry.sample});
  });
  if (open > 0)
    all.push_back(fmt::format("{} of {} {} no verdict yet", open,
                              counted(run.manifest.size(), "planned sample"),
                              open == 1 ? "has" : "have"));
  return all;
}

std::vector<std::string> pair_notes(const ComparedRun& base, const ComparedRun& other) {
  std::vector<std::string> notes;
  const std::string here = devices(base.run), there = devices(other.run);
  if (here == kCpu || there == kCpu) {
    notes.push_back(fmt::format(
        "{} ran on a CPU: only outcomes are compared, because CPU times do not measure a GPU's "
        "speed",
        here == there  ? fmt::format("{} and {}", base.label, other.label)
        : here == kCpu ? base.label
                       : other.label));
  } else if (here != there) {
    notes.push_back(
        fmt::format("{} and {} ran on different devices ({}; {}): their times cannot be compared, "
                    "so the speedup over the first shared baseline decides",
                    base.label, other.label, here, there));
  }
  if (const std::string unlike = unlike_runs(base.run, other.run); !unlike.empty())
    notes.push_back(fmt::format("{} and {} were {}, so their speeds are not compared", base.label,
                                other.label, unlike));
  return notes;
}

bool are_of_a_cpu(const RunFile& base, const RunFile& other) {
  return devices(base) == kCpu && devices(other) == kCpu;
}

std::string unlike_runs(const RunFile& base, const RunFile& other) {
  const std::string here = option(base, "l2"), there = option(other, "l2");
  // KernelBench's results do not have this setting.
  if (here == there || here.empty() || there.empty()) return {};
  return fmt::format("timed with the L2 {} and {}", here, there);
}

}  // namespace kbench::report

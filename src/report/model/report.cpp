// SPDX-License-Identifier: MIT
#include "kbench/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "record/baseline.hpp"
#include "report/model/audited.hpp"
#include "report/model/exclusions.hpp"
#include "report/model/leaderboard.hpp"
#include "report/model/model_tables.hpp"
#include "report/model/narrowed.hpp"
#include "report/model/run_settings.hpp"
#include "report/model/run_summary.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

constexpr std::string_view kCpu = "cpu";

void check(const ReportOptions& options) {
  for (const double p : options.p) {
    if (!std::isfinite(p) || p < 0) {
      throw UsageError(fmt::format("p = {} is not a speedup: use 0 or more", p));
    }
  }
  for (const int k : options.k) {
    if (k < 1) {
      throw UsageError(fmt::format("k = {} is not a number of samples: use 1 or more", k));
    }
  }
}

/// True for records of the CPU. Without records the run's header line names the device.
bool is_on_cpu(const RunFile& run) {
  const Record* cpu = nullptr;
  const Record* gpu = nullptr;
  for (const Record& record : run.records) (record.device == kCpu ? cpu : gpu) = &record;
  if (cpu != nullptr && gpu != nullptr) {
    throw UsageError(
        fmt::format("one report cannot hold records of {} and of {}: report their files one by one",
                    report::printable(gpu->device.str()), kCpu));
  }
  if (cpu == nullptr && gpu == nullptr && !run.headers.empty()) {
    const auto device = run.headers[0].environment.find("device");
    return device != run.headers[0].environment.end() && *device == kCpu;
  }
  return cpu != nullptr;
}

std::string chosen_baseline(const Report& report) {
  const std::string& asked = report.options.baseline;
  if (asked == kBestBaseline && report.baselines.size() > 1) return asked;
  if (asked.empty()) return report.baselines.empty() ? std::string() : report.baselines[0];
  if (std::ranges::find(report.baselines, asked) == report.baselines.end()) {
    std::vector<std::string> known = report.baselines;
    known.emplace_back(kBestBaseline);
    throw UsageError(fmt::format(
        "the run has no baseline \"{}\"; it has {}{}", asked,
        report.baselines.empty() ? "none"
        : report.baselines.size() == 1
            ? report.baselines.front()
            : fmt::format("{}, and best, the fastest of them", fmt::join(report.baselines, ", ")),
        did_you_mean(asked, known)));
  }
  return asked;
}

std::vector<FailureGroup> failure_groups(const Report& report) {
  std::map<std::tuple<Interned, Outcome, Interned>, std::size_t> places;
  std::vector<FailureGroup> groups;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (record.outcome == Outcome::kCorrect || record.outcome == Outcome::kHarnessFault ||
        report::is_exclusion(record)) {
      continue;
    }
    const auto [place, inserted] =
        places.try_emplace({record.judge, record.outcome, record.cause}, groups.size());
    if (inserted)
      groups.push_back(
          {.judge = record.judge, .outcome = record.outcome, .cause = record.cause, .records = {}});
    groups[place->second].records.push_back(index);
  }
  std::ranges::stable_sort(groups, [](const FailureGroup& a, const FailureGroup& b) {
    if (a.records.size() != b.records.size()) return a.records.size() > b.records.size();
    return std::tie(a.outcome, a.cause, a.judge) < std::tie(b.outcome, b.cause, b.judge);
  });
  return groups;
}

/// Fills in the counts and lists that follow from the scored samples.
void count(Report& report, const std::vector<report::ScoredSampleGroup>& groups) {
  for (const report::ScoredSampleGroup& group : groups) {
    report.planned += static_cast<std::int64_t>(group.scored_samples.size());
    for (const report::ScoredSample& scored_sample : group.scored_samples) {
      if (scored_sample.record == report::ScoredSample::kNoRecord) {
        report.unjudged.push_back({.entry = scored_sample.entry,
                                   .precision = group.precision,
                                   .device = group.device,
                                   .judge = group.judge});
        continue;
      }
      const Record& record = report.run.records[scored_sample.record];
      report.judged.push_back(scored_sample.record);
      if (report.options.select.lists(record)) report.candidates.push_back(scored_sample.record);
      if (report::is_verdict(record)) ++report.finished;
      if (report::is_left_out(report, record)) report.exclusions.push_back(scored_sample.record);
    }
  }
  report.complete = report.planned > 0 && report.finished == report.planned;
}

/// Applies the selection to the run.
void select(Report& report) {
  report.left_out = report::unchanged_candidates(report.run);
  if (report.options.select.empty()) return;
  for (const Record& record : report.run.records) report.left_out.insert(record.candidate);
  report.options.select.choose_from(report.run, "the run");
  for (const Record& record : report.run.records) report.left_out.erase(record.candidate);
}

/// The number of records without a manifest entry. A record of replaced code still has its entry.
std::size_t records_off_manifest(const RunFile& run) {
  std::map<std::pair<Interned, Interned>, std::vector<int>> planned;
  for (const ManifestEntry& entry : run.manifest) {
    planned[{entry.model, entry.problem}].push_back(entry.sample);
  }
  for (auto& [key, samples] : planned) std::ranges::sort(samples);
  return static_cast<std::size_t>(std::ranges::count_if(run.records, [&](const Record& record) {
    const auto found = planned.find({record.model, record.problem});
    return found == planned.end() || !std::ranges::binary_search(found->second, record.sample);
  }));
}

}  // namespace

Report build_report(RunFile run, ReportOptions options, const std::optional<AuditFile>& audits) {
  check(options);
  Report report;
  report.run = std::move(run);
  report.options = std::move(options);
  select(report);
  report.on_cpu = is_on_cpu(report.run);
  report.baselines = report::known_baselines(report.run);
  report.baseline = chosen_baseline(report);
  report.metrics = metrics_for(report.options.p, report.options.k);
  if (report.on_cpu) {
    // Without a GPU, metrics that need no speedup come first, because only they have values.
    std::stable_partition(report.metrics.begin(), report.metrics.end(),
                          [](const Metric& metric) { return !metric.needs_speedup(); });
  }
  const std::vector<report::ScoredSampleGroup> groups = report::scored_sample_groups(report.run);
  report::find_unearned(report);
  count(report, groups);
  std::vector<std::string> of_audits;
  report.audited = audits.has_value();
  if (audits) report.degenerate = report::degenerate_problems(report.run, *audits, of_audits);
  for (const report::ScoredSampleGroup& group : groups) {
    const auto degenerate = report::degenerate_in(report, group);
    std::ranges::move(
        report::summary_rows(report, group, report.metrics, report.audited ? &degenerate : nullptr),
        std::back_inserter(report.summary));
  }
  report::rank_models(report);
  report::add_model_tables(report, groups);
  report.failures = failure_groups(report);
  report.excluded = report::exclusions_by_problem(report);
  report.run_settings = report::run_settings_of(report);
  report.run_summary = report::run_summary(report);
  if (const std::size_t off = records_off_manifest(report.run); off > 0)
    report.run_summary.emplace_back(
        "left out", fmt::format("{} not in the manifest", report::counted(off, "record")));
  if (!of_audits.empty())
    report.run_summary.emplace_back("audits", fmt::format("{}", fmt::join(of_audits, "; ")));
  report.warnings = report::warnings(report.run);
  if (!report.unjudged.empty()) report.warnings.push_back(report::no_verdict_text(report));
  if (std::string uneven = report::uneven_models(report); !uneven.empty())
    report.warnings.push_back(std::move(uneven));
  if (const Selection& chosen = report.options.select;
      report.candidates.empty() && !report.judged.empty())
    report.warnings.push_back(report::printable(
        fmt::format("--select {} lists no candidate{}", chosen.text(), chosen.likely(report.run))));
  return report;
}

}  // namespace kbench

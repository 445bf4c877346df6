// SPDX-License-Identifier: MIT
#include "report/compare/compared_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "report/compare/compared_speed.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kShownUnmatched = 5;

std::string ratio_text(const Measured& ratio) {
  const std::string interval =
      interval_text({.value = {}, .lo = ratio.lo, .hi = ratio.hi, .why_none = {}});
  return factor(ratio.value) + (interval.empty() ? "" : " " + interval);
}

std::string time_text(const std::optional<Measured>& time) {
  return time ? duration(time->value) : std::string(kNoValue);
}

std::string model_text(const ComparedSample& sample) {
  return printable(sample.base_model == sample.other_model
                       ? sample.base_model.str()
                       : fmt::format("{} → {}", sample.base_model, sample.other_model));
}

std::string number_text(const ComparedSample& sample) {
  return sample.sample == sample.other_sample
             ? std::to_string(sample.sample)
             : fmt::format("{} → {}", sample.sample, sample.other_sample);
}

std::string time_title(const ComparedRun& run) {
  const bool on_cpu =
      !run.run.records.empty() && std::ranges::all_of(run.run.records, [](const Record& record) {
        return record.device == "cpu";
      });
  return fmt::format("{} {}", on_cpu ? "CPU wall" : "time", run.label);
}

/// True if the interval, rounded as it is shown, lies within kSameRatio.
bool looks_the_same(const Measured& ratio) {
  const auto shown = [](double value) { return std::round(value * 100) / 100; };
  return ratio.lo && ratio.hi && shown(*ratio.lo) >= shown(1 / kSameRatio) &&
         shown(*ratio.hi) <= kSameRatio;
}

std::string remark(const ComparedView& view, const ComparedSample& sample) {
  std::string text = sample.regression ? "regression" : "";
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  };
  if (view.base_record(sample).outcome != Outcome::kCorrect ||
      view.other_record(sample).outcome != Outcome::kCorrect)
    add(outcome_change(view, sample));
  // With two digits the interval could be mistaken for that of `same`, so it is shown with four.
  if (sample.change == Change::kAmbiguous)
    if (const Measured* ratio = sample.decisive(); ratio != nullptr && looks_the_same(*ratio))
      add(fmt::format("{:.4f}–{:.4f}", *ratio->lo, *ratio->hi));
  if (sample.basis == Basis::kSpeedup) add("over " + printable(sample.baselines[0].baseline.str()));
  // A note above the table already gives this reason for all samples.
  if (sample.reason != kCpuReason) add(sample.reason);
  return text;
}

constexpr std::array kSampleColumns = {
    SampleColumn{[](const ComparedView&) { return std::string("Change"); },
                 [](const ComparedView&, const ComparedSample& sample) {
                   return std::string(changes()[static_cast<std::size_t>(sample.change)].label);
                 },
                 false, false},
    SampleColumn{[](const ComparedView&) { return std::string("problem"); },
                 [](const ComparedView&, const ComparedSample& sample) {
                   return printable(sample.problem.str());
                 },
                 false, true},
    SampleColumn{
        [](const ComparedView&) { return std::string("model"); },
        [](const ComparedView&, const ComparedSample& sample) { return model_text(sample); }, false,
        true},
    SampleColumn{
        [](const ComparedView&) { return std::string("#"); },
        [](const ComparedView&, const ComparedSample& sample) { return number_text(sample); }, true,
        false},
    SampleColumn{
        [](const ComparedView& view) { return time_title(view.base()); },
        [](const ComparedView&, const ComparedSample& sample) { return time_text(sample.base_ms); },
        true, false},
    SampleColumn{[](const ComparedView& view) { return time_title(view.other()); },
                 [](const ComparedView&, const ComparedSample& sample) {
                   return time_text(sample.other_ms);
                 },
                 true, false},
    SampleColumn{[](const ComparedView&) { return std::string("ratio"); },
                 [](const ComparedView&, const ComparedSample& sample) {
                   const Measured* ratio = sample.decisive();
                   return ratio != nullptr ? ratio_text(*ratio) : std::string(kNoValue);
                 },
                 true, false},
    SampleColumn{[](const ComparedView&) { return std::string("remarks"); }, remark, false, false},
};

std::size_t listed_count(const ComparedView& view) {
  return static_cast<std::size_t>(
      std::ranges::count(view.pair.samples, true, &ComparedSample::listed));
}

std::string mean_text(const RatioMean& mean) {
  return mean.value ? fmt::format("{} ({})", factor(mean.value), mean.count)
                    : std::string(kNoValue);
}

std::string share_text(const RatioMean& mean) {
  return mean.value ? fmt::format("{:.3g} % ({})", *mean.value * 100, mean.count)
                    : std::string(kNoValue);
}

/// The pair's mean over this baseline; none if a run of the pair lacks the baseline.
RatioMean mean_over(const RunComparison& pair, const Interned& baseline) {
  for (std::size_t i = 0; i < pair.baselines.size(); ++i)
    if (pair.baselines[i] == baseline) return pair.baseline_means[i];
  return {};
}

}  // namespace

std::span<const SampleColumn> sample_columns() { return kSampleColumns; }

std::vector<Interned> tabled_baselines(const ComparedView& view) {
  const bool decides = std::ranges::any_of(view.pair.samples, [](const ComparedSample& sample) {
    return sample.basis == Basis::kSpeedup;
  });
  return decides || view.comparison.options.verbose ? view.pair.baselines : std::vector<Interned>();
}

std::vector<std::vector<std::string>> baseline_table(const ComparedView& view,
                                                     const Interned& baseline) {
  std::vector<std::vector<std::string>> rows = {
      {"Speedup over " + printable(baseline.str()), "model", "#", view.base().label,
       view.other().label, fmt::format("{} / {}", view.other().label, view.base().label)}};
  for (const ComparedSample* sample : shown_samples(view)) {
    for (const ComparedBaseline& shared : sample->baselines) {
      if (shared.baseline != baseline) continue;
      rows.push_back({printable(sample->problem.str()), model_text(*sample), number_text(*sample),
                      ratio_text(shared.base), ratio_text(shared.other), ratio_text(shared.ratio)});
    }
  }
  return rows;
}

std::vector<std::vector<std::string>> summary_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"Summary"}};
  const auto add = [&](const std::string& title, auto text) {
    rows.push_back({title});
    for (const RunComparison& pair : comparison.comparisons) rows.back().push_back(text(pair));
  };
  const auto add_count = [&](const std::string& title, auto count) {
    // A count that is 0 for all runs has no row.
    if (std::ranges::any_of(comparison.comparisons, count))
      add(title, [&](const RunComparison& pair) { return std::to_string(count(pair)); });
  };
  for (const RunComparison& pair : comparison.comparisons)
    rows[0].push_back(comparison.runs[pair.other].label);
  const std::string& base = comparison.runs.front().label;
  add("in both runs",
      [](const RunComparison& pair) { return std::to_string(pair.samples.size()); });
  for (const ChangeRow& row : changes())
    add_count("  " + std::string(row.label),
              [&](const RunComparison& pair) { return pair.count(row.change); });
  add_count("only in " + base, [](const RunComparison& pair) { return pair.only_in(true); });
  add_count("not in " + base, [](const RunComparison& pair) { return pair.only_in(false); });
  add(fmt::format("regressions (broken, slower by over {})",
                  percent(comparison.options.regression)),
      [](const RunComparison& pair) { return std::to_string(pair.regressions); });
  if (std::ranges::any_of(comparison.comparisons,
                          [](const RunComparison& pair) { return pair.base_limit.count > 0; })) {
    add(fmt::format("fraction of the device's limit, {} (n)", base),
        [](const RunComparison& pair) { return share_text(pair.base_limit); });
    add("  of the other run",
        [](const RunComparison& pair) { return share_text(pair.other_limit); });
  }
  add("geometric mean (n)", [](const RunComparison& pair) { return mean_text(pair.mean); });
  for (const Interned& baseline : shared_baselines(comparison))
    add(fmt::format("  of speedups over {} (n)", printable(baseline.str())),
        [&](const RunComparison& pair) { return mean_text(mean_over(pair, baseline)); });
  return rows;
}

bool asks_for_attention(const ComparedSample& sample) {
  return sample.regression || sample.change == Change::kSlower || sample.change == Change::kFixed;
}

std::vector<const ComparedSample*> shown_samples(const ComparedView& view) {
  const bool all = view.comparison.options.verbose || listed_count(view) <= kManyCandidates;
  std::vector<const ComparedSample*> shown;
  for (const ComparedSample& sample : view.pair.samples)
    if (sample.listed && (all || asks_for_attention(sample))) shown.push_back(&sample);
  return shown;
}

std::string left_out_text(const ComparedView& view) {
  const std::size_t left_out = listed_count(view) - shown_samples(view).size();
  if (left_out == 0) return {};
  return fmt::format(
      "{} (not slower, broken or fixed) are too many to list here: --verbose, csv and json list "
      "them",
      counted(left_out, "sample"));
}

std::vector<std::string> unmatched_lines(const ComparedView& view) {
  std::vector<std::string> lines;
  for (const bool in_base : {true, false}) {
    std::vector<std::string> names;
    for (const UnmatchedSample& sample : view.pair.unmatched) {
      if (sample.in_base != in_base || !sample.listed) continue;
      names.push_back(
          printable(fmt::format("{} {} {}{}", sample.problem, sample.model, sample.sample,
                                sample.planned     ? " (no verdict there yet)"
                                : sample.unchanged ? " (unchanged, so not judged there)"
                                                   : "")));
    }
    if (names.empty()) continue;
    const std::size_t count = names.size();
    const std::size_t shown =
        view.comparison.options.verbose ? count : std::min(count, kShownUnmatched);
    names.resize(shown);
    lines.push_back(fmt::format("only in {}, {}: {}{}",
                                in_base ? view.base().label : view.other().label,
                                counted(count, "sample"), fmt::join(names, ", "),
                                shown < count ? fmt::format(" and {} more", count - shown) : ""));
  }
  return lines;
}

std::string pair_heading(const ComparedView& view) {
  return fmt::format("{} compared with {}", view.other().label, view.base().label);
}

std::string comparison_note(const Comparison& comparison) {
  const auto has_ratio = [](const RunComparison& pair) { return pair.mean.count > 0; };
  if (std::ranges::none_of(comparison.comparisons, has_ratio)) return {};
  return fmt::format(
      "Ratios are above 1 if the other run is faster than {}. Intervals are 95 %, from each run's "
      "own spread, plus {} at either end for differences between runs. Faster and slower: the "
      "interval excludes 1; same: it is within a ratio of {}; else ambiguous. --verbose, csv and "
      "json show the speedups over each baseline.",
      comparison.runs.front().label, percent(kRunToRunShare), kSameRatio);
}

std::string sample_name(const ComparedSample& sample) {
  return printable(
      fmt::format("{} {} {}", sample.problem, model_text(sample), number_text(sample)));
}

std::string outcome_change(const ComparedView& view, const ComparedSample& sample) {
  const Record &base = view.base_record(sample), &other = view.other_record(sample);
  const std::string before = outcome_text(base.outcome, base.cause);
  const std::string after = outcome_text(other.outcome, other.cause);
  return printable(before == after ? before : before + " → " + after);
}

std::string basis_text(const ComparedSample& sample) {
  if (sample.basis == Basis::kTimes) return "times";
  if (sample.basis == Basis::kSpeedup) return "speedup over " + sample.baselines[0].baseline;
  return {};
}

std::vector<Interned> shared_baselines(const Comparison& comparison) {
  std::vector<Interned> baselines;
  for (const RunComparison& pair : comparison.comparisons)
    std::ranges::copy_if(pair.baselines, std::back_inserter(baselines), [&](const Interned& name) {
      return std::ranges::find(baselines, name) == baselines.end();
    });
  return baselines;
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

}  // namespace kbench::report

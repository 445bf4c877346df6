// SPDX-License-Identifier: MIT
#include "report/compare/compared_gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kNamedRegressions = 3;

bool is_timed(const ComparedSample& sample) {
  return sample.basis == Basis::kTimes && sample.decisive() != nullptr;
}

bool is_right(const Record& record) { return record.outcome == Outcome::kCorrect; }

/// The reasons why samples could not be compared (`by_time`: by their times), most frequent first.
std::string reasons(const ComparedView& view, bool by_time) {
  std::map<std::string, std::int64_t> counts;
  for (const ComparedSample& sample : view.pair.samples) {
    const bool counts_here = by_time ? is_right(view.base_record(sample)) &&
                                           is_right(view.other_record(sample)) && !is_timed(sample)
                                     : sample.change == Change::kNotComparable;
    if (!counts_here) continue;
    // Here a speedup decides because the devices differ, so the two devices are the reason.
    const bool other_device = by_time && sample.basis == Basis::kSpeedup;
    ++counts[other_device ? fmt::format("{} and {}", view.base_record(sample).device,
                                        view.other_record(sample).device)
                          : sample.reason];
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  order.reserve(counts.size());
  for (const auto& [reason, count] : counts) order.emplace_back(-count, printable(reason));
  std::ranges::sort(order);
  std::vector<std::string> texts;
  texts.reserve(order.size());
  for (const auto& [count, reason] : order) texts.push_back(reason);
  return named(texts);
}

std::string models_of(const RunFile& run) {
  std::set<Interned> models;
  for (const ManifestEntry& entry : run.manifest) models.insert(entry.model);
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const Interned& model : models) names.push_back(printable(model.str()));
  return names.empty() ? "no model" : named(names);
}

/// Right samples of the base that the other run plans but has not judged, or does not plan.
/// Without those that it left out as unchanged.
std::vector<std::string> unmatched_names(const ComparedView& view, bool planned) {
  std::vector<std::string> names;
  for (const UnmatchedSample& sample : view.pair.unmatched)
    if (sample.in_base && sample.planned == planned && !sample.unchanged &&
        is_right(view.base().run.records[sample.record]))
      names.push_back(
          printable(fmt::format("{} {} {}", sample.problem, sample.model, sample.sample)));
  return names;
}

/// True if the other run left out the base's right samples as unchanged, so they need no
/// comparison.
bool is_base_unchanged(const ComparedView& view) {
  bool any = false;
  for (const UnmatchedSample& sample : view.pair.unmatched) {
    if (!sample.in_base) continue;
    if (!sample.unchanged && is_right(view.base().run.records[sample.record])) return false;
    any |= sample.unchanged;
  }
  return any;
}

}  // namespace

std::vector<std::string> unjudged_names(const ComparedView& view) {
  std::vector<std::string> names = unmatched_names(view, true);
  for (const ComparedSample& sample : view.pair.samples)
    if (is_right(view.base_record(sample)) &&
        view.other_record(sample).outcome == Outcome::kHarnessFault)
      names.push_back(sample_name(sample));
  return names;
}

std::vector<std::string> gone_names(const ComparedView& view) {
  return unmatched_names(view, false);
}

std::string why_nothing_compared(const ComparedView& view, bool by_time) {
  const auto& samples = view.pair.samples;
  if (samples.empty() && is_base_unchanged(view)) return {};
  if (samples.empty())
    return fmt::format("the two runs have no sample in common ({} there, {} here)",
                       models_of(view.base().run), models_of(view.other().run));
  const bool any = std::ranges::any_of(samples, [&](const ComparedSample& sample) {
    return by_time ? is_timed(sample) : sample.change != Change::kNotComparable;
  });
  if (any) return {};
  std::string why = reasons(view, by_time);
  return why.empty() ? "no sample is correct in both" : why;
}

std::string compared_count(const ComparedView& view, const std::string& base) {
  const auto& samples = view.pair.samples;
  const std::int64_t not_comparable = view.pair.count(Change::kNotComparable);
  std::string text =
      fmt::format("{} compared with {}, {} of them by time",
                  counted(static_cast<std::int64_t>(samples.size()) - not_comparable, "sample"),
                  base, std::ranges::count_if(samples, is_timed));
  if (not_comparable > 0)
    text += fmt::format("; {} could not be compared: {}", not_comparable, reasons(view, false));
  return text;
}

std::string named(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamedRegressions);
  std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace kbench::report

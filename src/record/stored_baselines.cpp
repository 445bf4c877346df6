// SPDX-License-Identifier: MIT
#include "record/stored_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kbench/error.hpp"
#include "record/baseline.hpp"

namespace kbench {

namespace {

/// The subjects that were measured alongside a record's candidate.
std::map<Interned, SideTiming> measured_sides(const Record& record) {
  std::map<Interned, SideTiming> sides = record.timing->sides;
  // Times from a file were not measured alongside the candidate.
  for (const Speedup& speedup : record.speedup)
    if (speedup.stored) sides.erase(speedup.baseline);
  return sides;
}

/// Converts a baseline candidate's time to the device's speed at `now`, using a baseline that was
/// measured both then and now: eager if possible.
Measured paced(const Measured& candidate, const std::map<Interned, SideTiming>& then,
               const std::map<Interned, SideTiming>& now, const Interned& method) {
  std::vector<Interned> names = {"eager"};
  for (const auto& [name, side] : then) names.push_back(name);
  for (const Interned& name : names) {
    if (find_baseline(name.str()) == nullptr || !then.contains(name) || !now.contains(name))
      continue;
    const auto before = measured_time(then.at(name), method);
    const auto after = measured_time(now.at(name), method);
    if (before && after) return at_pace_of(candidate, *before, *after);
  }
  return candidate;
}

}  // namespace

std::string StoredBaselines::key_of(const Record& record) {
  // The hash covers the problem's text and sizes. In eval mode a reference does other work.
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", record.problem.str(), record.problem_hash.str(),
                     record.precision.str(), record.device.str(), record.torch.str(),
                     record.judge == kEvalModeJudge ? kEvalModeJudge : "");
}

const std::vector<StoredBaselines::Side>* StoredBaselines::sides_of(
    const Record& record, const std::string& baseline) const {
  const auto problem = sides_.find(key_of(record));
  if (problem == sides_.end()) return nullptr;
  const auto found = problem->second.find(baseline);
  return found == problem->second.end() ? nullptr : &found->second;
}

const StoredBaselines::Side* StoredBaselines::find(const Record& record,
                                                   const std::string& baseline) const {
  const std::vector<Side>* sides = sides_of(record, baseline);
  if (sides == nullptr) return nullptr;
  const auto alike = [&](const Side& side) {
    return record.timing && side.method == record.timing->method;
  };
  const auto side = std::ranges::find_if(*sides, alike);
  return side == sides->end() ? &sides->front() : &*side;
}

void StoredBaselines::keep(const Record& record, const std::string& baseline, const Side& side) {
  std::vector<Side>& sides = sides_[key_of(record)][baseline];
  const auto before = std::ranges::find(sides, side.method, &Side::method);
  if (before == sides.end())
    sides.push_back(side);
  else
    *before = side;
}

bool StoredBaselines::add(const RunFile& run, const std::filesystem::path& file,
                          const std::string& l2, const std::string& driver) {
  for (const RunHeader& header : run.headers) {
    const std::string stored = header.options.value("l2", l2);
    if (stored != l2)
      throw UsageError(fmt::format(
          "--baseline-file {}: its times were taken with --l2 {}, but this run uses --l2 {}",
          file.string(), stored, l2));
  }
  const bool is_other = std::ranges::any_of(run.headers, [&](const RunHeader& header) {
    const std::string theirs = header.environment.value("driver", driver);
    return !driver.empty() && !theirs.empty() && theirs != driver;
  });
  if (is_other) return false;
  for (const Record& record : run.records) {
    // Bounds include host code, so they depend on the host's load in that run.
    if (!record.timing || record.timing->is_bounded() || !is_own_judge(record.judge)) continue;
    for (const auto& [name, side] : record.timing->sides)
      if (find_baseline(name.str()) != nullptr && measured_time(side, record.timing->method))
        keep(record, name.str(), {side, record.timing->method});
  }
  return true;
}

void StoredBaselines::add_baseline_candidate(const Record& candidate, const std::string& baseline) {
  const std::string key = key_of(candidate);
  if (candidate.outcome != Outcome::kCorrect) {
    failed_candidates_[key][baseline] =
        fmt::format("{}: {}", outcomes()[static_cast<std::size_t>(candidate.outcome)].label,
                    candidate.message.empty() ? candidate.cause.str() : candidate.message);
    return;
  }
  if (candidate.timing && !candidate.timing->is_bounded()) {
    auto sides = measured_sides(candidate);
    const auto own = sides.extract("candidate");
    if (!own.empty() && measured_time(own.mapped(), candidate.timing->method)) {
      keep(candidate, baseline, {own.mapped(), candidate.timing->method, false, std::move(sides)});
      return;
    }
  }
  failed_candidates_[key][baseline] = "its time is only an upper bound that includes host code";
}

std::map<std::string, std::string> StoredBaselines::failures(
    const Record& record, const std::vector<std::string>& baselines) const {
  std::map<std::string, std::string> failures;
  const auto failed = failed_candidates_.find(key_of(record));
  for (const std::string& baseline : baselines) {
    if (!is_baseline_candidate(baseline) || find(record, baseline) != nullptr) continue;
    const bool is_known = failed != failed_candidates_.end() && failed->second.contains(baseline);
    failures[baseline] =
        is_known ? failed->second.at(baseline) : "it has no candidate for this problem";
  }
  return failures;
}

std::vector<std::string> StoredBaselines::missing(const Record& blank,
                                                  const std::vector<std::string>& baselines,
                                                  std::string_view method) const {
  std::vector<std::string> names;
  std::ranges::copy_if(baselines, std::back_inserter(names), [&](const std::string& name) {
    if (is_baseline_candidate(name)) return false;
    const std::vector<Side>* sides = sides_of(blank, name);
    return sides == nullptr || std::ranges::none_of(*sides, [&](const Side& side) {
             return method.empty() || side.method.str() == method;
           });
  });
  // If all others are stored, eager is measured, because one baseline must run alongside the
  // candidate.
  if (names.empty() && std::ranges::any_of(baselines, is_baseline_candidate))
    names.emplace_back("eager");
  return names;
}

std::optional<Measured> StoredBaselines::time_of(const Record& record,
                                                 const std::string& baseline) const {
  const Side* side = find(record, baseline);
  return side == nullptr ? std::nullopt : measured_time(side->timing, side->method);
}

void StoredBaselines::put_into(Record& record, const std::vector<std::string>& baselines) const {
  if (record.outcome != Outcome::kCorrect || !record.timing) return;
  Timing& timing = *record.timing;
  const auto side = timing.sides.find("candidate");
  if (side == timing.sides.end()) return;
  const auto candidate = measured_time(side->second, timing.method);
  const auto now = measured_sides(record);
  std::vector<Speedup> speedups;
  bool unlike = false;
  for (const std::string& baseline : baselines) {
    const Side* stored = find(record, baseline);
    if (stored == nullptr) {
      for (const Speedup& measured : record.speedup)
        if (measured.baseline == baseline) speedups.push_back(measured);
      continue;
    }
    if (stored->method != timing.method) {
      unlike = true;
      continue;
    }
    timing.sides[baseline] = stored->timing;
    if (record.device == "cpu" || !candidate) continue;
    const Measured time = paced(*measured_time(stored->timing, stored->method), stored->alongside,
                                now, stored->method);
    const Measured ratio = ratio_between_runs(time, *candidate);
    speedups.push_back({.baseline = baseline,
                        .value = ratio.value,
                        .lo = ratio.lo.value_or(ratio.value),
                        .hi = ratio.hi.value_or(ratio.value),
                        .stored = stored->stored});
  }
  record.speedup = std::move(speedups);
  if (unlike) record.flags.emplace_back("stored_baseline_unlike");
  if (!failures(record, baselines).empty() &&
      std::ranges::find(record.flags, "baseline_failed") == record.flags.end())
    record.flags.emplace_back("baseline_failed");
}

}  // namespace kbench

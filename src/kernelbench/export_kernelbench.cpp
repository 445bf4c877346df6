// SPDX-License-Identifier: MIT
#include "kernelbench/export_kernelbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "candidate/generation_config.hpp"
#include "kbench/error.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"
#include "score/kernelbench_timing.hpp"
#include "score/kernelbench_verdict.hpp"

namespace kbench::report {
namespace {

using json = nlohmann::ordered_json;

constexpr double kNotMeasured = -1;  // KernelBench's value for a missing time

constexpr std::array kOutcomes = {
    KernelBenchOutcome{Outcome::kCorrect, ""},
    KernelBenchOutcome{Outcome::kCompileFailure, "compilation_error"},
    KernelBenchOutcome{Outcome::kLoadFailure, "compilation_error"},
    KernelBenchOutcome{Outcome::kUnsupported, "error"},
    KernelBenchOutcome{Outcome::kRejected, "error"},
    KernelBenchOutcome{Outcome::kCrash, "runtime_error"},
    KernelBenchOutcome{Outcome::kTimeout, "error"},
    KernelBenchOutcome{Outcome::kOutOfMemory, "runtime_error"},
    KernelBenchOutcome{Outcome::kIllegalWrite, "runtime_error"},
    KernelBenchOutcome{Outcome::kWrongShape, "correctness_issue"},
    KernelBenchOutcome{Outcome::kWrongDtype, "correctness_issue"},
    KernelBenchOutcome{Outcome::kMismatch, "correctness_issue"},
    KernelBenchOutcome{Outcome::kNondeterministic, "correctness_issue"},
    KernelBenchOutcome{Outcome::kCheat, "correctness_issue"},
    KernelBenchOutcome{Outcome::kMissing, "error"},
    KernelBenchOutcome{Outcome::kProblemFailure, "error"},
    KernelBenchOutcome{Outcome::kHarnessFault, "error"},
};

/// A number of a record; −1 if there is none, because KernelBench does not read null.
double number(double value) { return std::isfinite(value) ? value : kNotMeasured; }

/// "level1/19_ReLU" → (19, "19_ReLU.py"): the problem's number and file name in KernelBench's
/// files.
std::optional<std::pair<int, std::string>> kernelbench_name(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string stem = key.substr(slash + 1);
  int id = 0;
  std::string_view rest = stem;
  if (!take_number(rest, id) || id < 0 || !(rest.empty() || rest.starts_with('_')))
    return std::nullopt;
  return std::pair(id, stem + ".py");
}

/// `text` as the name of a file or folder, because a run file's texts may contain any characters.
std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  constexpr std::size_t kMost = 100;
  return name.empty() ? "unnamed" : name.substr(0, kMost);
}

json stats_of(const SideTiming& side, const Record& record) {
  json stats = {{"mean", number(side.mean_ms)},
                {"std", number(side.std_ms)},
                {"min", number(side.min_ms)},
                {"max", number(side.max_ms)},
                {"num_trials", side.count},
                {"hardware", record.device.str()},
                {"device", "cuda"}};
  if (std::isfinite(side.median_ms)) stats["median"] = side.median_ms;
  return stats;
}

/// The times of a subject ("candidate" or a baseline), if a GPU was timed and they have a mean;
/// else null.
const SideTiming* timed_side(const Record& record, std::string_view name) {
  if (!record.timing || record.device == "cpu") return nullptr;
  const auto found = record.timing->sides.find(Interned(name));
  return found != record.timing->sides.end() && std::isfinite(found->second.mean_ms) &&
                 found->second.mean_ms > 0
             ? &found->second
             : nullptr;
}

json metadata_of(const Record& record) {
  json metadata = {{"hardware", record.device.str()},
                   {"device", record.device == "cpu" ? "cpu" : "cuda"},
                   {"judge", record.judge.str()}};
  if (record.outcome == Outcome::kCorrect) return metadata;
  const char* key = kOutcomes[static_cast<std::size_t>(record.outcome)].key;
  const std::string text = failure_text(record);
  metadata[key] = text.empty() ? std::string(to_string(record.outcome)) : text;
  for (const TrialResult& trial : record.correctness) {
    if (trial.max_abs_error && record.outcome == Outcome::kMismatch)
      metadata["max_difference"].push_back(fmt::format("{:.6f}", *trial.max_abs_error));
  }
  metadata[kOutcomeKey] = to_string(record.outcome);
  metadata[kCauseKey] = record.cause.str();
  return metadata;
}

/// `name`: the problem's file name; KernelBench itself uses only its number.
json entry_of(const Record& record, const std::string& name) {
  const bool correct = record.outcome == Outcome::kCorrect;
  const SideTiming* time = correct ? timed_side(record, "candidate") : nullptr;
  json entry = {{"sample_id", record.sample},
                {"compiled", record.stage > Stage::kLoad},
                {"correctness", correct},
                {"metadata", metadata_of(record)},
                {"runtime", time != nullptr ? time->mean_ms : kNotMeasured},
                {"runtime_stats", time != nullptr ? stats_of(*time, record) : json::object()}};
  entry["problem_name"] = name.substr(0, name.rfind('.'));
  const SideTiming* eager = correct ? timed_side(record, "eager") : nullptr;
  if (time != nullptr && eager != nullptr) {
    entry["ref_runtime"] = eager->mean_ms;
    entry["ref_runtime_stats"] = stats_of(*eager, record);
  }
  return entry;
}

/// The content of one run folder.
struct Folder {
  std::string model, name, precision, device;
  int level = 0;
  std::map<int, std::vector<const Record*>> problems;  ///< number → records in order of samples
  std::map<int, std::string> names;                    ///< number → "19_ReLU.py"
};

/// KernelBench's pass@k. For a problem with fewer than k samples, it uses all of them.
json pass_at_k(const Folder& folder, std::span<const int> all_k) {
  json problems = json::object();
  std::int64_t samples = 0, correct = 0;
  for (const auto& [id, records] : folder.problems) {
    ProblemSamples one;
    for (const Record* record : records) {
      SampleResult& sample = one.samples.emplace_back();
      sample.correct = record->outcome == Outcome::kCorrect;
      correct += sample.correct ? 1 : 0;
    }
    samples += static_cast<std::int64_t>(records.size());
    json& entry = problems[std::to_string(id)];
    entry = {{"total_samples", records.size()},
             {"correct_samples", std::ranges::count(one.samples, true, &SampleResult::correct)}};
    for (const int asked : all_k) {
      const int k = std::min(asked, static_cast<int>(records.size()));
      entry[fmt::format("pass@{}", k)] = kbench::pass_at_k(std::span(&one, 1), k).value.value_or(0);
    }
  }
  json averages = json::object();
  json metadata = {{"total_problems", problems.size()},
                   {"problems_with_samples", problems.size()},
                   {"total_evaluated_samples", samples},
                   {"total_correct_samples", correct}};
  for (const int k : all_k) {
    const std::string name = fmt::format("pass@{}", k);
    double sum = 0;
    std::int64_t count = 0;
    for (const auto& [id, entry] : problems.items()) {
      if (!entry.contains(name)) continue;
      sum += entry[name].get<double>();
      ++count;
    }
    averages["avg_" + name] = sum / static_cast<double>(problems.size());
    metadata[name + "_count"] = count;
  }
  return {{"averages", averages}, {"metadata", metadata}, {"problems", problems}};
}

/// Times of one baseline by file name. Problems without a correct candidate are listed too, because
/// KernelBench leaves unlisted problems out of its denominators.
json baseline_times(const Folder& folder, const std::string& baseline) {
  json level = json::object();
  for (const auto& [id, records] : folder.problems) {
    const Record* timed = nullptr;
    bool any_correct = false;
    for (const Record* record : records) {
      any_correct = any_correct || record->outcome == Outcome::kCorrect;
      if (timed == nullptr && timed_side(*record, baseline) != nullptr) timed = record;
    }
    if (timed != nullptr) {
      level[folder.names.at(id)] = stats_of(*timed_side(*timed, baseline), *timed);
    } else if (!any_correct && folder.device != "cpu") {
      level[folder.names.at(id)] = {{"mean", kNotMeasured}};
    }
  }
  return {{fmt::format("level{}", folder.level), std::move(level)}};
}

/// One call of export_kernelbench.
class Exporter {
 public:
  Exporter(const RunFile& run, const ExportOptions& options) : run_(run), options_(options) {}

  Export make() && {
    for (const ScoredSampleGroup& group : scored_sample_groups(run_)) add(group);
    if (folders_.empty()) {
      throw UsageError(
          "nothing to export: KernelBench names problems by level and number (level1/19_ReLU), and "
          "no sample of such a problem has a verdict");
    }
    name_folders();
    for (const auto& [key, folder] : folders_) write(folder);
    tell_what_is_missing();
    return std::move(made_);
  }

 private:
  /// Model, level, precision, device, judge.
  using Key = std::tuple<std::string, int, std::string, std::string, std::string>;

  void add(const ScoredSampleGroup& group) {
    for (const ScoredSample& scored_sample : group.scored_samples) {
      const ManifestEntry& entry = run_.manifest[scored_sample.entry];
      const Record* record = scored_sample.record == ScoredSample::kNoRecord
                                 ? nullptr
                                 : &run_.records[scored_sample.record];
      if (record == nullptr || record->outcome == Outcome::kHarnessFault) {
        ++without_verdict_;
        continue;
      }
      const auto name = kernelbench_name(entry.problem.str());
      if (!name || entry.level < 1) {
        unnumbered_.insert(entry.problem.str());
        continue;
      }
      Folder& folder = folders_[{entry.model.str(), entry.level, group.precision.str(),
                                 group.device.str(), group.judge.str()}];
      folder.model = entry.model.str();
      folder.level = entry.level;
      folder.precision = group.precision.str();
      folder.device = group.device.str();
      const auto [other, is_new] = folder.names.try_emplace(name->first, name->second);
      if (other->second != name->second) {
        throw UsageError(fmt::format(
            "{} and {} are both problem {} of level {}, which KernelBench cannot tell apart",
            printable(other->second), printable(name->second), name->first, entry.level));
      }
      folder.problems[name->first].push_back(record);
      if (record->outcome == Outcome::kCorrect && group.device != "cpu" &&
          timed_side(*record, "candidate") == nullptr)
        untimed_.insert(report::candidate_name(*record));
    }
  }

  /// Names each folder after the model and the other parts of the key that differ within the run.
  void name_folders() {
    std::set<int> levels;
    std::set<std::string> precisions, devices, judges;
    for (const auto& [key, folder] : folders_) {
      levels.insert(std::get<1>(key));
      precisions.insert(std::get<2>(key));
      devices.insert(std::get<3>(key));
      judges.insert(std::get<4>(key));
    }
    std::set<std::string> taken;
    for (auto& [key, folder] : folders_) {
      std::string name = file_name(folder.model);
      if (levels.size() > 1) name += fmt::format("_level{}", folder.level);
      if (precisions.size() > 1) name += "_" + file_name(folder.precision);
      if (devices.size() > 1) name += "_" + file_name(folder.device);
      if (judges.size() > 1) name += "_" + file_name(std::get<4>(key));
      folder.name = name;
      for (int n = 2; !taken.insert(folder.name).second; ++n)
        folder.name = fmt::format("{}_{}", name, n);
    }
  }

  void write(const Folder& folder) {
    json results = json::object();
    std::set<std::string> baselines = {"eager"};
    std::size_t samples = 0, correct = 0;
    for (const auto& [id, records] : folder.problems) {
      json& entries = results[std::to_string(id)] = json::array();
      for (const Record* record : records) {
        entries.push_back(entry_of(*record, folder.names.at(id)));
        ++samples;
        if (record->outcome == Outcome::kCorrect) ++correct;
        for (const Speedup& speedup : record->speedup) baselines.insert(speedup.baseline.str());
      }
    }
    const std::filesystem::path run = std::filesystem::path("runs") / folder.name;
    add_file(run / "eval_results.json", results);
    add_file(run / "pass_at_k_results.json", pass_at_k(folder, options_.k));
    made_.files.emplace_back(
        run / "generation_config.yaml",
        generation_config_text(
            {.model = folder.model,
             .precision = folder.precision == "native" ? "fp32" : folder.precision,
             .level = folder.level},
            folder.name));
    const std::string hardware = file_name(folder.device) + "_" + folder.name;
    const std::filesystem::path timing = std::filesystem::path("results/timing") / hardware;
    for (const std::string& baseline : baselines) {
      add_file(timing / (file_name(file_of_baseline(baseline)) + ".json"),
               baseline_times(folder, baseline));
    }
    const std::filesystem::path out = std::filesystem::absolute(options_.out).lexically_normal();
    made_.summary.push_back(fmt::format("{}: level {}, {}, {}, {} correct", (out / run).string(),
                                        folder.level, counted(folder.problems.size(), "problem"),
                                        counted(samples, "sample"), correct));
    made_.summary.push_back(
        fmt::format("  scripts/benchmark_eval_analysis.py run_name={} level={} hardware={} "
                    "baseline=baseline_time_torch "
                    "eval_results_dir={} baseline_file={}",
                    folder.name, folder.level, hardware, (out / "runs").string(),
                    (out / timing / "baseline_time_torch.json").string()));
  }

  void add_file(const std::filesystem::path& path, const json& content) {
    made_.files.emplace_back(path,
                             content.dump(4, ' ', true, json::error_handler_t::replace) + "\n");
  }

  template <typename... Values>
  void note(fmt::format_string<Values...> text, Values&&... values) {
    made_.notes.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void tell_what_is_missing() {
    if (without_verdict_ > 0)
      note("{} left out, because they have no verdict yet", counted(without_verdict_, "sample"));
    if (!unnumbered_.empty())
      note("left out, because KernelBench needs problems with a level and number: {}{}",
           printable(*unnumbered_.begin()),
           unnumbered_.size() == 1 ? "" : fmt::format(" and {} more", unnumbered_.size() - 1));
    if (!untimed_.empty())
      note("correct but not timed, so KernelBench's speedups use -1 ms: {}{}", *untimed_.begin(),
           untimed_.size() == 1 ? "" : fmt::format(" and {} more", untimed_.size() - 1));
    const bool any_cpu = std::ranges::any_of(
        folders_, [](const auto& folder) { return folder.second.device == "cpu"; });
    if (any_cpu)
      note("times of the CPU are left out, because KernelBench would read them as times of a GPU");
  }

  const RunFile& run_;
  const ExportOptions& options_;
  Export made_;
  std::map<Key, Folder> folders_;
  std::size_t without_verdict_ = 0;
  std::set<std::string> unnumbered_, untimed_;
};

}  // namespace

std::span<const KernelBenchOutcome> kernelbench_outcomes() { return kOutcomes; }

Export export_kernelbench(const RunFile& run, const ExportOptions& options) {
  for (const int k : options.k) {
    if (k < 1) throw UsageError(fmt::format("k = {} is not a number of samples: use 1 or more", k));
  }
  return Exporter(run, options).make();
}

}  // namespace kbench::report

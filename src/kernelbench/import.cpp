// SPDX-License-Identifier: MIT
#include "kernelbench/import.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "candidate/file.hpp"
#include "candidate/generation_config.hpp"
#include "candidate/place.hpp"
#include "kbench/error.hpp"
#include "kernelbench/import_names.hpp"
#include "score/kernelbench_results.hpp"
#include "score/kernelbench_timing.hpp"
#include "score/kernelbench_verdict.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMaxResultsBytes = std::size_t{2} << 30;
constexpr const char* kFormat = "kernelbench";
constexpr const char* kUnknownDevice = "unknown GPU";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One row per precision: KernelBench's name and kbench's.
struct PrecisionName {
  std::string_view kernelbench, kbench;
};
constexpr PrecisionName kPrecisions[] = {
    {"", "native"},   {"fp32", "native"}, {"native", "native"},
    {"fp16", "fp16"}, {"bf16", "bf16"},   {"tf32", "tf32"},
};

/// A sample of the run: its result and its kernel file. One of them may be missing.
struct Sample {
  const KernelBenchResult* result = nullptr;
  fs::path kernel;
};

std::string modified(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) return {};
  const auto seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(
          std::chrono::file_clock::to_sys(time)));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

/// The speedup: the ratio of medians if both are known, else of means.
double ratio(const SideTiming& baseline, const SideTiming& candidate) {
  const bool medians = std::isfinite(baseline.median_ms) && std::isfinite(candidate.median_ms) &&
                       candidate.median_ms > 0;
  return medians ? baseline.median_ms / candidate.median_ms : baseline.mean_ms / candidate.mean_ms;
}

/// One call of import_kernelbench.
class Importer {
 public:
  Importer(fs::path folder, const ImportOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  ImportedRun import() && {
    read_results();
    config_ = read_generation_config(folder_);
    find_kernels();
    timing_ = read_baseline_times(options_.timing);
    names_.emplace(level_, options_.problems, timing_, results_.results);
    model_ = !options_.model.empty() ? options_.model : config_.model;
    if (model_.empty()) model_ = fs::canonical(folder_).filename().string();
    choose_precision();
    choose_device();
    for (const auto& [place, sample] : samples_) add(place.first, place.second, sample);
    if (run_.manifest.empty()) {
      throw UsageError(fmt::format("{} has no result for any of the named problems",
                                   (folder_ / "eval_results.json").string()));
    }
    add_missing();
    tell_what_is_missing();
    run_.complete = run_.records.size() == run_.manifest.size();
    write_header();
    return std::move(run_);
  }

 private:
  void read_results() {
    std::error_code error;
    if (!fs::is_directory(folder_, error))
      throw UsageError(fmt::format("there is no run folder {}", folder_.string()));
    const fs::path path = folder_ / "eval_results.json";
    if (!fs::exists(path, error)) {
      throw UsageError(
          fmt::format("{} has no eval_results.json: it is not a KernelBench run folder, or its "
                      "kernels have not been evaluated",
                      folder_.string()));
    }
    const FileBytes file = read_file(path, kMaxResultsBytes);
    if (!file.error.empty())
      throw UsageError(fmt::format("cannot read {}: {}", path.string(), file.error));
    try {
      results_ = parse_kernelbench_results(file.bytes);
    } catch (const Error& problem) {
      throw UsageError(fmt::format("{} {}", path.string(), problem.what()));
    }
    run_.notes = results_.notes;
    run_.header.run_id = sha256_hex(file.bytes).substr(0, 16);
    run_.header.started = modified(path);
    for (const KernelBenchResult& result : results_.results)
      samples_[{result.problem, result.sample}].result = &result;
  }

  /// Finds the level, and the kernels of that level.
  void find_kernels() {
    std::vector<std::pair<RunFileName, fs::path>> kernels;
    std::set<int> levels;
    for (const fs::path& path : list_folder(folder_).files) {
      if (!is_code_file(path)) continue;
      const auto name = run_file_name(path.stem().native());
      if (!name) continue;
      kernels.emplace_back(*name, path);
      levels.insert(name->level);
    }
    choose_level(levels);
    std::size_t others = 0;
    for (const auto& [name, path] : kernels) {
      if (name.level == level_) {
        samples_[{name.problem, name.sample}].kernel = path;
      } else {
        ++others;
      }
    }
    if (others > 0) note("skipped kernels of other levels than {}: {}", level_, others);
  }

  void choose_level(const std::set<int>& of_kernels) {
    std::set<int> of_problems;
    for (const Problem& problem : options_.problems) of_problems.insert(problem.level);
    if (options_.level) {
      level_ = *options_.level;
    } else if (config_.level) {
      level_ = *config_.level;
    } else if (of_kernels.size() == 1) {
      level_ = *of_kernels.begin();
    } else if (of_kernels.empty() && of_problems.size() == 1) {
      level_ = *of_problems.begin();
    } else {
      throw UsageError(fmt::format(
          "{} does not name the level of its results ({}): give --level", folder_.string(),
          of_kernels.empty() ? "generation_config.yaml has no level, and there are no kernels"
                             : fmt::format("kernels of levels {}", fmt::join(of_kernels, ", "))));
    }
  }

  void choose_precision() {
    const std::string& said = options_.precision.empty() ? config_.precision : options_.precision;
    const auto* row = std::ranges::find(kPrecisions, said, &PrecisionName::kernelbench);
    if (row == std::end(kPrecisions)) {
      throw UsageError(
          fmt::format("{} names the precision \"{}\", which kbench does not know: give --precision",
                      (folder_ / "generation_config.yaml").string(), said));
    }
    precision_ = row->kbench;
  }

  /// Sets the device from the results; throws UsageError if the baselines ran on another one.
  void choose_device() {
    std::map<std::string, std::size_t> counts;
    for (const KernelBenchResult& result : results_.results) {
      const std::string hardware = text_field(result.metadata, "hardware");
      if (!hardware.empty()) ++counts[hardware];
    }
    std::set<std::string> all;
    for (const auto& [hardware, count] : counts) all.insert(hardware);
    const bool known = !all.empty();
    for (const BaselineTimes& times : timing_)
      all.insert(times.hardware.begin(), times.hardware.end());
    if (!options_.hardware.empty()) {
      device_ = options_.hardware;
    } else if (!timing_.empty() && all.size() > 1) {
      throw UsageError(fmt::format(
          "results and baseline times are of different hardware ({}), so there are no speedups; "
          "give --hardware NAME if it is the same",
          fmt::join(all, "; ")));
    } else if (known) {
      device_ =
          std::ranges::max_element(counts, {}, [](const auto& at) { return at.second; })->first;
    } else {
      device_ = all.empty() ? kUnknownDevice : *all.begin();
    }
  }

  void add(int problem, int sample, const Sample& what) {
    const auto name = names_->name_of(problem);
    if (!name) {
      ++of_other_problems_;
      return;
    }
    run_.manifest.push_back({.problem = name->key,
                             .level = level_,
                             .model = model_,
                             .sample = sample,
                             .tags = name->tags});
    Record record = blank(*name, sample, what);
    if (what.result == nullptr || !what.result->fault.empty()) {
      ++without_result_;
      return;
    }
    judge(*what.result, *name, record);
    run_.records.emplace_back(std::move(record), json{{"kernelbench", raw_of(*what.result)}});
  }

  Record blank(const ImportName& name, int sample, const Sample& what) const {
    Record record;
    record.model = model_;
    record.problem = name.key;
    record.level = level_;
    record.sample = sample;
    record.precision = precision_;
    record.device = device_;
    record.judge = kKernelBenchJudge;
    record.problem_hash = name.hash;
    record.kind = CandidateKind::kModule;
    record.kernel_class = kUnknownClass;
    const fs::path usual = folder_ / fmt::format("level_{}_problem_{}_sample_{}_kernel.py", level_,
                                                 name.number, sample);
    record.candidate = (what.kernel.empty() ? usual : what.kernel).lexically_normal().string();
    if (!what.kernel.empty()) {
      Candidate candidate;
      fill_candidate(candidate, what.kernel, read_file(what.kernel, kMaxCandidateBytes));
      record.kind = candidate.kind;
      record.candidate_hash = sha256_hex(candidate.source);
    }
    return record;
  }

  void judge(const KernelBenchResult& result, const ImportName& name, Record& record) {
    const ImportedVerdict verdict = imported_verdict(result);
    record.outcome = verdict.outcome;
    record.stage = verdict.stage;
    record.cause = verdict.cause;
    record.message = verdict.message;
    record.correctness = verdict.trials;
    record.flags = verdict.flags;
    if (options_.hardware.empty()) {
      const std::string hardware = text_field(result.metadata, "hardware");
      if (!hardware.empty()) record.device = hardware;
    }
    if (record.outcome != Outcome::kCorrect || !result.time) return;
    any_timed_ = true;
    Timing& timing = record.timing.emplace();
    timing.method = kFormat;
    timing.trust = "self_reported";
    timing.sides["candidate"] = *result.time;
    for (const BaselineTimes& times : timing_) {
      const auto found = times.times.find({level_, name.stem});
      if (found != times.times.end()) {
        add_speedup(times.baseline, found->second, record);
      } else {
        untimed_[times.baseline].insert(name.key);
      }
    }
    if (result.reference && !timing.sides.contains("eager"))
      add_speedup("eager", *result.reference, record);
  }

  void add_speedup(const std::string& baseline, const SideTiming& side, Record& record) {
    const double value = ratio(side, record.timing->sides.at("candidate"));
    record.timing->sides[baseline] = side;
    record.speedup.push_back(
        {.baseline = baseline, .value = value, .lo = kUnknown, .hi = kUnknown});
    baselines_.insert(baseline);
  }

  static json raw_of(const KernelBenchResult& result) {
    return {{"compiled", result.compiled},
            {"correctness", result.correct},
            {"metadata", result.metadata}};
  }

  /// Adds the given problems that have no code, because KernelBench counts them in denominators.
  void add_missing() {
    std::set<Interned> there;
    for (const ManifestEntry& entry : run_.manifest) there.insert(entry.problem);
    for (const ImportName& name : names_->named()) {
      if (there.contains(name.key)) continue;
      run_.manifest.push_back(
          {.problem = name.key, .level = level_, .model = model_, .sample = 0, .tags = name.tags});
      Record record = blank(name, 0, {});
      record.outcome = Outcome::kMissing;
      record.stage = Stage::kManifest;
      record.cause = "no_code";
      record.message = "the run folder has neither a kernel nor a result for this problem";
      run_.records.emplace_back(std::move(record), json());
    }
  }

  template <typename... Values>
  void note(fmt::format_string<Values...> text, Values&&... values) {
    run_.notes.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void tell_what_is_missing() {
    if (of_other_problems_ > 0)
      note("samples left out, because their problems were not named: {}", of_other_problems_);
    if (without_result_ > 0)
      note("samples without a result (kbench eval --resume judges them): {}", without_result_);
    if (names_->any_by_number())
      note(
          "problems have only numbers; --resume needs their names: give --problem or "
          "--baseline-file");
    if (baselines_.empty() && any_timed_)
      note("there are no speedups, because there are no baseline times: give --baseline-file");
    for (const auto& [baseline, keys] : untimed_)
      note("no speedup over {}, because this baseline has no time for {}{}", baseline,
           *keys.begin(),
           keys.size() == 1 ? std::string() : fmt::format(" and {} more", keys.size() - 1));
  }

  void write_header() {
    RunHeader& header = run_.header;
    json baselines = json::array(), files = json::array();
    for (const BaselineTimes& times : timing_) {
      baselines.push_back(times.baseline);
      files.push_back(times.file.string());
    }
    // KernelBench's seed for inputs is public.
    header.options = {{"precision", precision_}, {"baselines", baselines}, {"seed", "public"}};
    header.environment = {
        {"device", device_},
        {"import",
         {{"from", kFormat}, {"folder", folder_.string()}, {"timing", std::move(files)}}}};
  }

  fs::path folder_;
  const ImportOptions& options_;
  ImportedRun run_;
  KernelBenchResults results_;
  GenerationConfig config_;
  std::map<std::pair<int, int>, Sample> samples_;  // by (problem, sample)
  std::vector<BaselineTimes> timing_;
  std::optional<ImportNames> names_;
  int level_ = 0;
  std::string model_, precision_, device_;
  std::size_t of_other_problems_ = 0, without_result_ = 0;
  bool any_timed_ = false;
  std::set<std::string> baselines_;                       // baselines of speedups
  std::map<std::string, std::set<std::string>> untimed_;  // baseline → problems
};

}  // namespace

ImportedRun import_kernelbench(const fs::path& folder, const ImportOptions& options) {
  return Importer(folder, options).import();
}

}  // namespace kbench

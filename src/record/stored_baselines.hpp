// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"
#include "kbench/run_file.hpp"
#include "record/measured.hpp"

namespace kbench {

/// Model name of the candidates that `kbench baseline` makes from references.
inline constexpr const char* kReferenceModel = "reference";

/// Prefix of a `--baseline` that is the path of a baseline candidate. Other candidates are timed
/// against it.
inline constexpr std::string_view kCandidatePrefix = "candidate:";
/// True if the baseline is another candidate, not a way to run the reference.
inline bool is_baseline_candidate(std::string_view baseline) {
  return baseline.starts_with(kCandidatePrefix);
}

/// Baseline times that are not measured alongside each candidate: from earlier runs, and from
/// baseline candidates, which a run judges first. They apply to candidates of the same problem,
/// sizes, precision, device model and torch.
class StoredBaselines {
 public:
  /// Takes the times in all records of a run, except for bounds. If there are several times of one
  /// baseline by one method, the last is used. `l2`: the L2 state of the present run ("cold",
  /// "warm"); if the stored run had another, throws UsageError that names `file`. `driver`: the
  /// present one ("580.159.03"; empty: unknown). If the stored run used another, returns false and
  /// takes nothing.
  bool add(const RunFile& run, const std::filesystem::path& file, const std::string& l2,
           const std::string& driver = {});

  /// Takes a baseline candidate's time from its record, and the times of the baselines measured in
  /// rounds with it. If it is not correct, keeps the reason.
  void add_baseline_candidate(const Record& candidate, const std::string& baseline);

  /// The baselines to measure alongside a candidate, because there is no stored time for its
  /// problem. Baseline candidates are never among them. But if a baseline candidate is requested,
  /// the result is not empty: a baseline measured alongside both shows how the device's speed has
  /// changed. With a `method` (Timing::method): those without times by that method.
  std::vector<std::string> missing(const Record& blank, const std::vector<std::string>& baselines,
                                   std::string_view method = {}) const;

  /// The stored time of that baseline for the record's problem, in milliseconds, if there is one.
  std::optional<Measured> time_of(const Record& record, const std::string& baseline) const;

  /// Adds the stored times to those of a correct candidate, and its speedups over them, in the
  /// order of `baselines`. Times of baseline candidates are converted to the device's present
  /// speed, if a baseline was measured alongside both. If a baseline was timed by another method,
  /// the speedup is missing and the record gets the flag `stored_baseline_unlike`. If a baseline
  /// candidate has no time, it gets the flag `baseline_failed`.
  void put_into(Record& record, const std::vector<std::string>& baselines) const;

  /// The reasons why baseline candidates have no time for that record's problem, by baseline.
  std::map<std::string, std::string> failures(const Record& record,
                                              const std::vector<std::string>& baselines) const;

 private:
  struct Side {
    SideTiming timing;
    Interned method;
    bool stored = true;                             ///< by an earlier run; false: by this one
    std::map<Interned, SideTiming> alongside = {};  ///< baselines measured in rounds with it
  };
  static std::string key_of(const Record& record);
  const std::vector<Side>* sides_of(const Record& record, const std::string& baseline) const;
  /// The times of that baseline by the record's method, else by another.
  const Side* find(const Record& record, const std::string& baseline) const;
  /// Replaces an earlier entry by the same method.
  void keep(const Record& record, const std::string& baseline, const Side& side);

  /// By key and baseline; one for each method.
  std::map<std::string, std::map<std::string, std::vector<Side>>> sides_;
  std::map<std::string, std::map<std::string, std::string>> failed_candidates_;
};

}  // namespace kbench

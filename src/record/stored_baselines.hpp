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

/// Model of the candidates that `kbench baseline` makes of references.
inline constexpr const char* kReferenceModel = "reference";

/// What `--baseline` takes before the path of a candidate that others are to be timed against.
inline constexpr std::string_view kRivalPrefix = "candidate:";
/// Whether the baseline is another candidate, not a way to run the reference.
inline bool is_rival(std::string_view baseline) { return baseline.starts_with(kRivalPrefix); }

/// Times of baselines that are not measured beside each candidate, for candidates of the same
/// problem at the same sizes and precision, on the same model of device, with the same torch: out
/// of earlier runs, and of rivals, which a run judges before its candidates.
class StoredBaselines {
 public:
  /// Takes all that the records of a run hold; `l2` is the present run's ("cold", "warm"). Where
  /// several runs or records have times of one baseline by one method, the last counts. Throws
  /// UsageError where the run was timed with the L2 in another state; `file` is for its sentence.
  /// False, and nothing is taken, where it was timed by another driver than `driver` ("580.159.03";
  /// empty: unknown).
  bool add(const RunFile& run, const std::filesystem::path& file, const std::string& l2,
           const std::string& driver = {});

  /// Takes the time of a rival, as the run judged it, and those of the baselines that were measured
  /// in rounds with it; of one that is not right, why not.
  void add_rival(const Record& rival, const std::string& baseline);

  /// Which of the baselines have no times for that record's problem, and are to be measured beside
  /// its candidate; rivals never are, but where there is one, something is: what was measured
  /// beside it too tells whether the device is at another pace by now. With a `method` ("events",
  /// "cupti", "cupti_busy", "graph", "wall") no times by that one, held or not.
  std::vector<std::string> missing(const Record& blank, const std::vector<std::string>& baselines,
                                   std::string_view method = {}) const;

  /// False where one of the baselines could not be held when it was timed as beside kernels: a
  /// candidate of that problem that is held has no speedup over it.
  bool allow_held(const Record& blank, const std::vector<std::string>& baselines) const;

  /// That baseline's time, in milliseconds, for the problem of a record; none where none is stored.
  std::optional<Measured> time_of(const Record& record, const std::string& baseline) const;

  /// Puts the stored times beside those of a right candidate, and the speedups over them, in the
  /// order of `baselines`; those over rivals at the pace that the device has by now, where a
  /// baseline was measured beside both. Where it was timed in another way than they were (its
  /// record's method, a bound by the judge's clock) there is no speedup, but the flag
  /// `stored_baseline_unlike`; where a rival has no time, the flag `baseline_failed`.
  void put_into(Record& record, const std::vector<std::string>& baselines) const;

  /// Of the rivals without a time for that record's problem: why, by baseline.
  std::map<std::string, std::string> failures(const Record& record,
                                              const std::vector<std::string>& baselines) const;

 private:
  struct Side {
    SideTiming timing;
    Interned method;
    bool stored = true;                          ///< else of this run
    std::map<Interned, SideTiming> beside = {};  ///< of a rival: measured in rounds with it
  };
  static std::string key_of(const Record& record);
  const std::vector<Side>* sides_of(const Record& record, const std::string& baseline) const;
  /// Of the times of that baseline those by the record's method, else any.
  const Side* find(const Record& record, const std::string& baseline) const;
  /// In the place of an earlier one by the same method.
  void keep(const Record& record, const std::string& baseline, const Side& side);

  /// By key and baseline; one for each method.
  std::map<std::string, std::map<std::string, std::vector<Side>>> sides_;
  std::map<std::string, std::map<std::string, std::string>> failed_rivals_;
};

}  // namespace kbench

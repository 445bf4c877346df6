// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/run_file.hpp"

namespace kbench::report {

/// The name of a sample: problem, the model's name in the base, and the sample's number.
struct SampleKey {
  Interned problem, model;
  int sample = 0;
  /// By problem in natural order, then by model and number.
  bool operator<(const SampleKey& other) const;
  bool is_beside(const SampleKey& other) const {
    return problem == other.problem && model == other.model;
  }
};

/// Sample → indices of its records in one run: one for each precision, device and judge.
using Verdicts = std::map<SampleKey, std::vector<std::size_t>>;
using JudgedSample = Verdicts::value_type;

/// The samples of one of the two runs that are compared.
class RunSamples {
 public:
  /// `renamed`: a model's name in this run, and its name in the base; null: all names are the
  /// base's. The run must outlive this.
  RunSamples(const RunFile& run, const std::pair<Interned, Interned>* renamed);

  const Verdicts& verdicts() const { return verdicts_; }
  /// The path of the sample's candidate; empty if it has none, or if its records have several.
  std::string_view file(const JudgedSample& sample) const;
  /// The hash of the sample's code; empty if it is unknown.
  std::string_view code(const JudgedSample& sample) const;
  /// The judged samples of the key's problem and model, by number.
  std::vector<const JudgedSample*> of_same_group(const SampleKey& key) const;
  /// True if a planned sample of the key's problem and model has no record.
  bool awaits(const SampleKey& key) const;
  /// True if `--changed-since` left this candidate out of the run.
  bool has_unchanged(std::string_view candidate) const {
    return !unchanged_.empty() && unchanged_.contains(std::string(candidate));
  }

 private:
  SampleKey key_of(const Interned& problem, const Interned& model, int sample) const;

  const RunFile& run_;
  const std::pair<Interned, Interned>* renamed_;
  Verdicts verdicts_;         ///< a file has the number of its newest record
  std::set<SampleKey> left_;  ///< planned samples whose file has a lower number since a resume
  std::set<std::string> unchanged_;
  mutable std::optional<std::set<SampleKey>> open_;  ///< samples without a record; made when needed
};

/// The sample of the other run for each of base.verdicts(), in their order; null: it has none.
/// Samples of one problem and model are paired by their candidates' files: by file names, with as
/// many folders before them as it takes until no two files of a run have the same. Files that are
/// left are paired by equal code, all other samples by their numbers. A file is paired by neither
/// while a file of that problem and model waits for its verdict, because that one may be its
/// counterpart; nor if the other run left it out as unchanged.
std::vector<const JudgedSample*> pair_samples(const RunSamples& base, const RunSamples& other);

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "worker/input_set.hpp"
#include "worker/judge_kernels.hpp"

namespace kbench::worker {

/// What a run asks of a judge for one problem.
struct JudgeOptions {
  std::string key, path, source;
  Sizes sizes;
  std::string precision = "native";
  std::string device = "cpu";
  std::string secret;
  int trials = 5;
  std::vector<std::string> baselines{"eager"};
  bool cold_cache = true;
  double timing_budget_s = 0.5;
  double memory_share = 1;  ///< of the device's free memory, for input sets
  bool draw_all = false;    ///< all sets at once, where nobody waits for the first
  std::string kernels;      ///< image of the judge's own kernels; empty: torch's operators compare
};

/// Throws kbench::Error where a field is missing.
JudgeOptions judge_options_from_json(const nlohmann::json& json);

/// A problem that a judge holds open: the imported file, and as many input sets as fit.
class JudgedProblem {
 public:
  /// Imports, draws the first set, and makes sure that the reference answers alike under another
  /// random state. Throws ProblemFailure.
  explicit JudgedProblem(JudgeOptions options);

  const JudgeOptions& options() const { return options_; }
  Device& device() { return *device_; }
  ProblemHost& host() { return host_; }
  const Signature& signature() const { return signature_; }
  double reference_ms() const { return reference_ms_; }
  /// Whether another problem may follow in this process.
  bool leaves_no_trace() const;

  /// Input sets that stay in memory; trial t lives in slot t % resident().
  std::size_t resident() const { return sets_.size(); }
  /// The set of one trial, drawn again where its slot holds another one.
  InputSet& trial_set(std::uint32_t trial);
  /// The set in a slot; drawn, if need be, as that slot's own trial.
  InputSet& slot_set(std::size_t slot);
  /// Counts how often a slot was drawn, so that a candidate's mappings can be renewed.
  std::uint64_t generation(std::size_t slot) const { return generations_[slot]; }
  /// Forgets all sets: somebody may have written to them.
  void redraw();

  /// By KernelBench's rules the set of the timed calls comes after those of the trials.
  std::uint32_t timed_trial() const { return static_cast<std::uint32_t>(options_.trials); }
  /// By KernelBench's rules the reference multiplies as the candidate does; sets that were computed
  /// otherwise are forgotten.
  void use_math_modes(std::uint32_t modes);

  /// Name of the first input, parameter or buffer whose shared memory no longer holds what was
  /// drawn, over all sets in memory; empty where all do.
  std::string first_changed_source() const;

  /// What each operator of the reference moves and computes in one call; found once.
  const std::vector<OperatorCost>& operators();

  /// The model that stands for a baseline ("eager", "compile") on a set.
  pybind11::object baseline_model(const std::string& baseline, InputSet& set);

 private:
  void load_kernels();
  /// How many sets stay in memory, by the size of the first.
  std::size_t sets_that_fit(double free_before, const InputSet& first) const;
  DrawOptions draw_options(std::uint32_t trial);
  void check_random_reference(InputSet& set);
  void measure_reference(InputSet& set);

  JudgeOptions options_;
  std::unique_ptr<Device> device_;
  std::optional<JudgeKernels> kernels_;
  ProblemHost host_;
  Signature signature_;
  double reference_ms_ = 0;
  std::optional<std::vector<OperatorCost>> operators_;
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::vector<std::uint64_t> generations_;
  // KernelBench's rules: one model over all trials, built anew for the first.
  bool by_kernelbench_;
  std::vector<std::uint64_t> seeds_;
  pybind11::object shared_model_;
  std::uint32_t math_modes_ = 0;
};

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "record/baseline.hpp"
#include "worker/device/judge_kernels.hpp"
#include "worker/reference/input_set.hpp"

namespace kbench::worker {

/// The input distribution with answers that may be exact.
inline constexpr const char* kWholeDistribution = "small_integers";
/// The input distribution that changes a few elements of a trial's inputs.
inline constexpr const char* kNearDistribution = "few_changed";

/// A run's settings for a judge and one problem.
struct JudgeOptions {
  std::string key, path, source;
  Sizes sizes;
  std::string precision = "native";
  std::string device = "cpu";
  std::string secret;
  int trials = 5;
  std::vector<std::string> baselines{"eager"};
  std::string baseline_cache;  ///< folder for compiled baselines; empty: not kept
  bool cold_cache = true;
  double timing_budget_s = 0.5;
  double memory_share = 1;    ///< fraction of the device's free memory for input sets
  bool draw_all = false;      ///< draw all sets at once, because no candidate waits for the first
  bool distributions = true;  ///< also judge on input distributions
  bool eval_mode = false;     ///< the reference's and the candidate's models are in eval mode
  std::map<std::string, std::string>
      distributions_off;  ///< those that do not suit the problem, and the reasons
  std::string kernels;    ///< image of the judge's own kernels; empty: torch's operators compare
};

/// Throws kbench::Error if a field is missing.
JudgeOptions judge_options_from_json(const nlohmann::json& json);

/// A problem that a judge has open: the imported file, and as many input sets as fit into memory.
class JudgedProblem {
 public:
  /// Imports the file and draws the first set. Throws ProblemFailure, also if the reference's
  /// answer depends on the random state.
  explicit JudgedProblem(JudgeOptions options);

  const JudgeOptions& options() const { return options_; }
  Device& device() { return *device_; }
  ProblemHost& host() { return host_; }
  const Signature& signature() const { return signature_; }
  double reference_ms() const { return reference_ms_; }
  /// True if the reference has an answer in double precision, near its own, for each floating
  /// output.
  bool has_oracle() const { return has_oracle_; }
  /// True if the reference's answer depends on earlier calls, because they change attributes of its
  /// model. Before each compared call, reference and candidate then restore the state of a newly
  /// built model.
  bool is_stateful() const { return !state_.empty(); }
  /// Names of those attributes, for messages.
  std::string state_names() const;
  /// Puts the inputs of call number `step` of a row of calls into the set of a slot, with the
  /// reference's answers to that call. Call 0 has the trial's inputs. See leave_distributions().
  void enter_step(std::size_t slot, std::uint32_t step);
  /// True if this process may judge another problem.
  bool leaves_no_trace() const;

  /// The seed of one trial's models, the reference's and a module's. A candidate's process gets it
  /// when its model is built; it reveals nothing about the inputs. It depends on the run's secret;
  /// otherwise weights could be stored in a candidate's text. If its lowest bit is set, redrawn
  /// constants have signs.
  std::uint64_t init_seed(std::uint32_t trial) const;
  /// The largest error, divided by its tolerance, of the reference's first answer with other
  /// weights. 0 if that answer is right, or if the answer to other inputs is: a right answer then
  /// does not prove that its weights are right. Computed once.
  double error_of_other_weights();
  /// The number of trials' input sets that stay in memory. Trial t is in slot t % resident().
  std::size_t resident() const { return resident_; }
  /// The number of all slots. The sets of timed calls follow those of the trials; they have only
  /// inputs, for the models of the trials.
  std::size_t slots() const { return sets_.size(); }
  /// The set of one trial. It is drawn again if its slot has another trial's set.
  InputSet& trial_set(std::uint32_t trial);
  /// The slot whose model and state a slot uses: for timed calls another one, else the same.
  std::size_t owner(std::size_t slot) const { return slot % resident_; }
  /// The slots of timed calls. If memory suffices for no more sets, the first trial's slot.
  std::vector<std::size_t> timed_slots() const;
  /// Draws new inputs for the first timed slot. The same inputs are never drawn again.
  void refresh_timed();
  /// Draws new inputs for these slots, each encrypted under its key.
  void refresh_timed(std::span<const std::size_t> slots,
                     std::span<const protocol::EncryptionKey> keys);
  /// True if the reference's outputs depend on earlier calls. Consecutive calls of a model then
  /// give other outputs than calls that each begin with restored state.
  bool follows_calls(std::size_t slot);
  /// During its lifetime, the set of a slot has the reference's answers to the inputs in its
  /// memory.
  class TimedAnswers {
   public:
    TimedAnswers(JudgedProblem& problem, std::size_t slot);
    TimedAnswers(const TimedAnswers&) = delete;
    TimedAnswers& operator=(const TimedAnswers&) = delete;
    ~TimedAnswers() { set_.exchange_answers(answers_); }

   private:
    InputSet& set_;
    Answers answers_;
  };
  /// Restores the data that trials need.
  void leave_timed();
  /// Calls leave_timed() in its destructor.
  class TimedSpan {
   public:
    explicit TimedSpan(JudgedProblem& problem) : problem_(problem) {}
    ~TimedSpan() { problem_.leave_timed(); }
    TimedSpan(const TimedSpan&) = delete;
    TimedSpan& operator=(const TimedSpan&) = delete;

   private:
    JudgedProblem& problem_;
  };
  /// The set in a slot. If the slot is empty, draws the trial with the slot's number.
  InputSet& slot_set(std::size_t slot);
  /// The number of times that a slot was drawn. If it changes, candidates' mappings are renewed.
  std::uint64_t version(std::size_t slot) const { return versions_[slot]; }
  /// The number of times that the slot's inputs moved to other memory. Most draws use the same
  /// memory.
  std::uint64_t memory_version(std::size_t slot) const { return memory_versions_[slot]; }
  /// The input distributions to judge on, besides the problem's own.
  std::vector<std::string> distributions() const;
  /// Puts inputs of a distribution, and the reference's answers to them, into the set of a slot.
  /// False if there are none.
  bool enter_distribution(std::size_t slot, const std::string& name);
  /// An additional set of inputs of a distribution, the same for all candidates.
  struct FurtherSet {
    std::uint32_t number = 0;
    bool noisy = false;  ///< no two elements of a tensor are equal
  };
  /// Puts an additional set, and its answers, into the set of a slot. Answers are in double
  /// precision if possible. False if the answers prove nothing. `name`: a distribution, or
  /// kDrawnDistribution.
  bool enter_further(std::size_t slot, const std::string& name, FurtherSet further);
  /// The largest error, relative to the sum, of a sequential float32 sum of equal addends. The
  /// number of addends is the most that the reference's operators sum for one element. Computed
  /// once.
  double equal_sum_error();
  /// A candidate's output for the set in a slot. If it has indices, those of equal elements are
  /// replaced by the reference's.
  at::Tensor without_ties(std::size_t slot, std::size_t output, const at::Tensor& got);
  /// True if a different answer is certainly wrong. Compares with the reference in double
  /// precision, and with its answers to inputs that differ by a rounding error. This may change the
  /// set's answers.
  bool confirm_distribution(std::size_t slot, const std::string& name);
  /// Replaces the answers of a slot's set by those in double precision, if there are any.
  void look_closer(std::size_t slot);
  /// The slot for a distribution. kNearDistribution changes a few elements of the last trial's
  /// inputs, so it uses that trial's slot. The next candidates use the same slot, because the
  /// answers are kept.
  std::size_t distribution_slot(std::string_view name) const {
    return name == kNearDistribution ? static_cast<std::size_t>(options_.trials - 1) % resident_
                                     : 0;
  }
  /// Restores a trial's inputs and answers in the set of a slot.
  void leave_distributions(std::size_t slot) { leave(slot); }
  /// Calls leave_distributions() in its destructor.
  class DistributionSpan {
   public:
    DistributionSpan(JudgedProblem& problem, std::size_t slot) : problem_(problem), slot_(slot) {}
    ~DistributionSpan() { problem_.leave_distributions(slot_); }
    DistributionSpan(const DistributionSpan&) = delete;
    DistributionSpan& operator=(const DistributionSpan&) = delete;

   private:
    JudgedProblem& problem_;
    std::size_t slot_;
  };
  /// The reasons why distributions were left out, by name.
  std::map<std::string, std::string> distributions_left_out() const;
  /// True if the distribution was left out since forget_room() because memory was short. Another
  /// candidate may leave more memory.
  bool lacked_room(const std::string& distribution) const {
    return no_room_.contains(distribution);
  }
  void forget_room() { no_room_.clear(); }

  /// Drops all sets, because a candidate may have written to them. `writable`: candidates can write
  /// to the next sets, so that such writes are detected.
  void redraw(bool writable = false);

  /// Under KernelBench's rules, the set of the timed calls follows those of the trials.
  std::uint32_t timed_trial() const { return static_cast<std::uint32_t>(options_.trials); }
  /// Under KernelBench's rules, the reference uses the candidate's math modes. Drops sets that were
  /// computed with other modes.
  void use_math_modes(std::uint32_t modes);

  /// Name of the first input, parameter or buffer, over all sets in memory, whose shared memory has
  /// changed since it was drawn; empty if there is none.
  std::string first_changed_source() const;
  /// The failure of a candidate that wrote to an input, parameter or buffer.
  CandidateFailure input_written() const;

  /// The memory traffic and operations of each operator in one call of the reference. Computed
  /// once.
  const std::vector<OperatorCost>& operators();

  /// The requested baselines that can run the reference.
  const std::vector<std::string>& baselines() const { return baselines_; }
  /// The reasons why the other baselines cannot, by name.
  const std::map<std::string, std::string>& failed_baselines() const { return failed_baselines_; }
  /// The callable that a baseline calls on the set in a slot, by KernelBench's rules. Prepared once
  /// for all candidates. Throws ProblemFailure.
  pybind11::object baseline_model(const std::string& baseline, std::size_t slot);

 private:
  void load_kernels();
  void prepare_baselines();
  /// Decides how many sets stay in memory, by the size of the first one.
  void make_room(double free_before, const InputSet& first);
  InputMemory take_memory(std::size_t slot);
  void put(std::size_t slot, std::unique_ptr<InputSet> set);
  /// If the set is large, releases the memory in torch's cache that drawing it has left unused.
  void release_idle(const InputSet& drawn);
  DrawOptions draw_options(std::uint32_t trial);
  DrawOptions draw_timed_options();
  InputSet& timed_set(std::size_t slot);
  /// Returns InputSet::own_arguments(), or throws input_written().
  std::vector<Argument> own_arguments(InputSet& set) const;
  void enter(InputSet& set);
  void leave(std::size_t slot);
  std::unique_ptr<InputSet> first_set();
  double milliseconds(const std::function<void()>& work);
  bool answers_again(InputSet& set);
  void check_random_reference();
  bool may_keep_state(bool answers_alike);
  void measure_reference(InputSet& set);

  /// The state of an input distribution.
  struct Distribution {
    std::string why_not;             ///< empty if the distribution applies
    std::optional<Answers> answers;  ///< to the set that all candidates get; none: compute again
    bool is_kept = false;            ///< the answers are kept for the next candidate
    std::size_t large_bytes = 0;     ///< size of the answers, if counted in kept_bytes_
    bool confirmed = false;          ///< a different answer is certainly wrong
  };
  void check_distributions_off() const;
  std::uint64_t distribution_seed(const std::string& name) const;
  Distribution ask(InputSet& set, const std::vector<Argument>& inputs, const std::string& name,
                   bool confirmed);
  void give(InputSet& set, Distribution& distribution);
  bool look_closer(InputSet& set, std::string& why_not);
  void raise_errors(InputSet& set);
  std::string why_not_steady(InputSet& set, bool exact);

  JudgeOptions options_;
  std::unique_ptr<Device> device_;
  std::optional<JudgeKernels> kernels_;
  ProblemHost host_;
  Signature signature_;
  double reference_ms_ = 0;
  std::vector<std::string> baselines_;
  std::map<std::string, std::string> failed_baselines_;
  bool exact_ = true;   ///< answers in double precision are fast enough
  EagerErrors errors_;  ///< of the first set's answers
  bool has_oracle_ = true;
  std::optional<double> other_weights_error_;  ///< see error_of_other_weights()
  std::vector<std::string> state_;  ///< attributes that calls change, if answers depend on them
  std::optional<std::vector<OperatorCost>> operators_;
  std::optional<std::int64_t> added_up_;  ///< see equal_sum_error()
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::vector<std::uint64_t> versions_, memory_versions_;
  /// A compiled model for the set of that version.
  struct ReadyModel {
    pybind11::object model;
    std::uint64_t version = 0;
  };
  std::map<std::pair<std::string, std::size_t>, ReadyModel> ready_models_;
  std::size_t resident_ = 1;
  std::map<std::size_t, std::uint64_t> owner_versions_;  ///< by timed slot: the owner's version
  bool signs_ = true;              ///< the reference accepts negative parameters
  bool writable_ = false;          ///< see redraw()
  std::uint32_t timed_draws_ = 0;  ///< draws until now
  std::map<std::string, Distribution> distributions_;
  std::set<std::string> no_room_;    ///< distributions left out because memory was short
  std::size_t kept_bytes_ = 0;       ///< total of the kept large answers
  std::size_t most_kept_bytes_ = 0;  ///< limit of kept_bytes_
  /// A trial's answers and digests as drawn, while its set has other inputs.
  struct Entered {
    Answers answers;
    std::vector<std::int64_t> digests;
  };
  std::optional<Entered> entered_;
  // For KernelBench's rules: one model for all trials, rebuilt for the first trial.
  bool by_kernelbench_;
  std::vector<std::uint64_t> seeds_;
  pybind11::object shared_model_;
  std::uint32_t math_modes_ = 0;
};

}  // namespace kbench::worker

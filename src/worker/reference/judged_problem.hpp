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

/// The distribution whose answers may be exact.
inline constexpr const char* kWholeDistribution = "small_integers";
/// The distribution that is a trial's inputs, but for a few elements.
inline constexpr const char* kNearDistribution = "few_changed";

/// What a run asks of a judge for one problem.
struct JudgeOptions {
  std::string key, path, source;
  Sizes sizes;
  std::string precision = "native";
  std::string device = "cpu";
  std::string secret;
  int trials = 5;
  std::vector<std::string> baselines{"eager"};
  std::string baseline_cache;   ///< folder for what compilers make of them; empty: none is kept
  bool beside_kernels = false;  ///< baselines of modules as they are timed beside kernels, too
  bool cold_cache = true;
  bool held = false;  ///< hold the stream while a timed call is queued, where that can be
  protocol::TimeClock clock = protocol::TimeClock::kEvents;  ///< by which calls are timed on a GPU
  std::string score = "span";  ///< what of the device's records is a call's time: span or busy
  double timing_budget_s = 0.5;
  double memory_share = 1;    ///< of the device's free memory, for input sets
  bool draw_all = false;      ///< all sets at once, where nobody waits for the first
  bool distributions = true;  ///< ask with input distributions as well
  bool eval_mode = false;     ///< models are in eval mode, the reference's as the candidate's
  std::map<std::string, std::string>
      distributions_off;  ///< which do not suit the problem, and why not
  std::string kernels;    ///< image of the judge's own kernels; empty: torch's operators compare
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
  /// Whether the reference has answers in double precision to each floating output, near its own.
  bool has_oracle() const { return has_oracle_; }
  /// Whether the reference's answer depends on the calls before, by attributes of its model: then
  /// each call that is compared begins where a model was built, on both sides.
  bool is_stateful() const { return !state_.empty(); }
  /// Those attributes, for people.
  std::string state_names() const;
  /// Puts inputs for one more call in a row, after `step` of them from the trial's on, and the
  /// reference's answers to that call, into the set of a slot; see leave_distributions().
  void enter_step(std::size_t slot, std::uint32_t step);
  /// Whether another problem may follow in this process.
  bool leaves_no_trace() const;

  /// The seed under which the models of one trial are built, the reference's and a module's alike:
  /// a candidate's process gets it when its model is built, and it tells nothing about the inputs.
  /// Of the run's secret, or weights could be baked into a candidate's text. Where its lowest bit
  /// is set, constants that are redrawn have signs.
  std::uint64_t init_seed(std::uint32_t trial) const;
  /// The largest error, over its tolerance, of the reference's first answer with other weights. 0
  /// if that answer is right, or the answer to other inputs is: then a right answer does not show
  /// that its weights are right. Found once.
  double error_of_other_weights();
  /// Input sets that stay in memory; trial t lives in slot t % resident().
  std::size_t resident() const { return resident_; }
  /// Those, and after them the sets of timed calls: inputs alone, for the models of the former.
  std::size_t slots() const { return sets_.size(); }
  /// The set of one trial, drawn again where its slot holds another one.
  InputSet& trial_set(std::uint32_t trial);
  /// The slot whose model and state a slot uses: its own, but for timed calls.
  std::size_t lender(std::size_t slot) const { return slot % resident_; }
  /// The slots of timed calls. Where memory has no room for more, that of the first trial.
  std::vector<std::size_t> timed_slots() const;
  /// Draws inputs for the first timed slots that nobody has seen, and that are never drawn again.
  void refresh_timed(std::size_t count);
  /// The same for those slots, encrypted under as many keys.
  void refresh_timed(std::span<const std::size_t> slots, std::span<const protocol::VeilKey> keys);
  /// Whether the reference's outputs depend on calls before, so that calls of a model in a row give
  /// others than calls that each begin with its state restored.
  bool follows_calls(std::size_t slot);
  /// While it lives, the set of a slot has the reference's answers to the inputs that it holds.
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
  /// Puts back what trials need.
  void leave_timed();
  /// Does so when it goes.
  class TimedSpan {
   public:
    explicit TimedSpan(JudgedProblem& problem) : problem_(problem) {}
    ~TimedSpan() { problem_.leave_timed(); }
    TimedSpan(const TimedSpan&) = delete;
    TimedSpan& operator=(const TimedSpan&) = delete;

   private:
    JudgedProblem& problem_;
  };
  /// The set in a slot; drawn, if need be, as that slot's own trial.
  InputSet& slot_set(std::size_t slot);
  /// Counts how often a slot was drawn, so that a candidate's mappings can be renewed.
  std::uint64_t generation(std::size_t slot) const { return generations_[slot]; }
  /// Counts how often the memory of its inputs became another one: mostly it is drawn into anew.
  std::uint64_t memory_generation(std::size_t slot) const { return memory_generations_[slot]; }
  /// The input distributions that it is asked with besides those that it draws.
  std::vector<std::string> distributions() const;
  /// Puts inputs of a distribution and the reference's answers to them into the set of a slot;
  /// false where there are none.
  bool enter_distribution(std::size_t slot, const std::string& name);
  /// A further set of inputs of a distribution, the same for all candidates.
  struct FurtherSet {
    std::uint32_t number = 0;
    bool noisy = false;  ///< no two elements of a tensor are equal
  };
  /// Puts that and the answers to it, in double precision where there are any, into the set of a
  /// slot; false if they say nothing. `name`: a distribution, or kDrawnDistribution.
  bool enter_further(std::size_t slot, const std::string& name, FurtherSet further);
  /// By how much, relative to the sum, a float32 sum of equal addends may be off that are added one
  /// by one: of as many as the reference's operators add up for one element. Found once.
  double equal_sum_error();
  /// What a candidate gave as an output of the set in a slot; of indices those that name equal
  /// elements are exchanged for the reference's.
  at::Tensor without_ties(std::size_t slot, std::size_t output, const at::Tensor& got);
  /// Makes sure that one who answers otherwise is wrong: looks at the reference in double
  /// precision, and at inputs that are a rounding error away. After that the set's answers may be
  /// others.
  bool confirm_distribution(std::size_t slot, const std::string& name);
  /// Gives the set of a slot the answers in double precision, where there are any, in place of
  /// those that it has.
  void look_closer(std::size_t slot);
  /// The slot in which a distribution is asked: of the nearest, few elements are changed of what
  /// the last trial asked. Its answers are kept for the next candidate, so all ask there.
  std::size_t distribution_slot(std::string_view name) const {
    return name == kNearDistribution ? static_cast<std::size_t>(options_.trials - 1) % resident_
                                     : 0;
  }
  /// Puts back what the set of a slot held before it was given other inputs than a trial's.
  void leave_distributions(std::size_t slot) { leave(slot); }
  /// Does so when it goes.
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
  /// Why those distributions that were left out were, by name.
  std::map<std::string, std::string> distributions_left_out() const;
  /// Whether it was left out for want of memory since forget_room(); another candidate may leave
  /// more.
  bool lacked_room(const std::string& distribution) const {
    return no_room_.contains(distribution);
  }
  void forget_room() { no_room_.clear(); }

  /// Forgets all sets: somebody may have written to them. Of the next ones candidates can write to
  /// what they get, if `writable`: to see whether they do.
  void redraw(bool writable = false);

  /// By KernelBench's rules the set of the timed calls comes after those of the trials.
  std::uint32_t timed_trial() const { return static_cast<std::uint32_t>(options_.trials); }
  /// By KernelBench's rules the reference multiplies as the candidate does; sets that were computed
  /// otherwise are forgotten.
  void use_math_modes(std::uint32_t modes);

  /// Name of the first input, parameter or buffer whose shared memory no longer holds what was
  /// drawn, over all sets in memory; empty where all do.
  std::string first_changed_source() const;
  /// The failure of a candidate that wrote to one of those.
  CandidateFailure input_written() const;

  /// What each operator of the reference moves and computes in one call; found once.
  const std::vector<OperatorCost>& operators();

  /// Those of the baselines asked for that the reference can be run by.
  const std::vector<std::string>& baselines() const { return baselines_; }
  /// Why it cannot be by the others.
  const std::map<std::string, std::string>& failed_baselines() const { return failed_baselines_; }
  /// What a baseline calls on the set in a slot; made ready once, for all candidates. Throws
  /// ProblemFailure.
  pybind11::object baseline_model(const std::string& baseline, std::size_t slot);

 private:
  void load_kernels();
  void prepare_baselines();
  /// How many sets stay in memory, by the size of the first.
  void make_room(double free_before, const InputSet& first);
  InputMemory take_memory(std::size_t slot);
  void put(std::size_t slot, std::unique_ptr<InputSet> set);
  /// What drawing a set leaves in torch's cache, where that is much.
  void release_idle(const InputSet& drawn);
  DrawOptions draw_options(std::uint32_t trial);
  DrawOptions draw_timed_options();
  InputSet& timed_set(std::size_t slot);
  /// InputSet::own_arguments(). Throws input_written().
  std::vector<Argument> own_arguments(InputSet& set) const;
  void enter(InputSet& set);
  void leave(std::size_t slot);
  std::unique_ptr<InputSet> first_set();
  double milliseconds(const std::function<void()>& work);
  bool answers_again(InputSet& set);
  void check_random_reference();
  bool may_keep_state(bool answers_alike);
  void measure_reference(InputSet& set);

  /// What is known of an input distribution.
  struct Distribution {
    std::string why_not;             ///< empty where it applies
    std::optional<Answers> answers;  ///< to the set that is always asked; none: to be made again
    bool is_kept = false;            ///< they stay for the next candidate
    std::size_t large_bytes = 0;     ///< of them, where they count among kept_bytes_
    bool confirmed = false;          ///< who answers otherwise is wrong
  };
  void check_distributions_off() const;
  std::uint64_t distribution_seed(const std::string& name) const;
  Distribution ask(InputSet& set, const std::vector<Argument>& inputs, const std::string& name,
                   bool confirmed);
  void give(InputSet& set, Distribution& distribution);
  bool look_closer(InputSet& set, std::string& why_not);
  std::string why_not_steady(InputSet& set, bool exact);

  JudgeOptions options_;
  std::unique_ptr<Device> device_;
  std::optional<JudgeKernels> kernels_;
  ProblemHost host_;
  Signature signature_;
  double reference_ms_ = 0;
  std::vector<std::string> baselines_;
  std::map<std::string, std::string> failed_baselines_;
  bool exact_ = true;   ///< answers in double precision are worth their time
  EagerErrors errors_;  ///< of the first set's
  bool has_oracle_ = true;
  std::optional<double> other_weights_error_;  ///< see error_of_other_weights()
  std::vector<std::string> state_;  ///< names of attributes that calls change, where that matters
  std::optional<std::vector<OperatorCost>> operators_;
  std::optional<std::int64_t> added_up_;  ///< see equal_sum_error()
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::vector<std::uint64_t> generations_, memory_generations_;
  /// A model that was compiled or captured, for the set of that generation.
  struct ReadyModel {
    pybind11::object model;
    std::uint64_t generation = 0;
  };
  std::map<std::pair<std::string, std::size_t>, ReadyModel> ready_models_;
  std::size_t resident_ = 1;
  std::map<std::size_t, std::uint64_t> lent_;  ///< by timed slot: the lender's generation
  bool signs_ = true;                          ///< the reference bears parameters below zero
  bool writable_ = false;                      ///< see redraw()
  std::uint32_t timed_draws_ = 0;              ///< so far
  std::map<std::string, Distribution> distributions_;
  std::set<std::string> no_room_;    ///< distributions
  std::size_t kept_bytes_ = 0;       ///< of their large answers
  std::size_t most_kept_bytes_ = 0;  ///< that those may take
  /// Of a trial's set as drawn, while it holds other inputs.
  struct Entered {
    Answers answers;
    std::vector<std::int64_t> digests;
  };
  std::optional<Entered> entered_;
  // KernelBench's rules: one model over all trials, built anew for the first.
  bool by_kernelbench_;
  std::vector<std::uint64_t> seeds_;
  pybind11::object shared_model_;
  std::uint32_t math_modes_ = 0;
};

}  // namespace kbench::worker

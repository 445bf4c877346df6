// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/stopwatch.hpp"
#include "kbench/candidate.hpp"
#include "kbench/plan.hpp"
#include "kbench/profile.hpp"
#include "kbench/record.hpp"
#include "protocol/protocol.hpp"
#include "worker/device/poison.hpp"
#include "worker/judge/candidate_client.hpp"
#include "worker/judge/gate.hpp"
#include "worker/judge/verdict.hpp"
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"
#include "worker/timing/timing.hpp"

namespace kbench::worker {

/// Cause of the verdict on a candidate that leaves too little memory for judging.
inline constexpr std::string_view kNoRoom = "no_room_to_judge";
/// Flag of an answer that misses the tolerance by so little that the order of additions may decide.
inline constexpr std::string_view kNearToleranceFlag = "near_tolerance";
/// Flag of a module that relies on weights that its constructor drew under the seed.
inline constexpr std::string_view kWeightsBySeed = "weights_by_seed";

/// The judging of one candidate: its channel, its buffers, its trials and its times. Also the
/// process of a baseline behind the gate.
class Evaluation {
 public:
  /// `wait_for_quiet` is called once, between correctness and timing. It returns when no other
  /// process starts work on the device. `baselines`: null if there are no processes of baselines.
  Evaluation(JudgedProblem& problem, EvaluationRequest request, protocol::Channel channel,
             std::function<void()> wait_for_quiet, const BaselineProcesses* baselines = nullptr);

  Verdict run();

 private:
  /// There are no times by the present method. `flag`, of the record, says why.
  struct NoSuchTimes {
    std::string_view flag;
  };
  struct WorkBuffer {
    SharedBuffer buffer;
    at::Tensor view;
    std::size_t tensor = 0;  ///< index into the plan's tensors
  };
  struct CandidateSet {
    std::uint64_t version = 0, memory_version = 0;
    std::vector<WorkBuffer> work;
    Poison poison = kPoison;  ///< content of memory before the next call, or before the last one
  };

  using Digests = std::set<std::int64_t>;

  void find_no_room(std::string_view what);
  void check_structure() const;
  /// Sends the buffers of a slot to the process, unless it has them already. True if the process
  /// has built a model for it.
  bool share(std::size_t slot);
  std::vector<SharedBuffer> work_memory(const std::vector<std::size_t>& tensors);
  void add_work_buffer(CandidateSet& set, std::size_t tensor, at::ScalarType dtype,
                       SharedBuffer memory);
  const Slot& slot_of(InputSet& set, const BoundTensor& tensor) const;
  /// Lets the process build the model of a slot, whose weights come from its constructor
  /// (as_built_) or are given.
  void build_model(std::size_t slot);
  void take_built(const protocol::Message& message);
  /// Decides by a module's first answers if its models keep the weights that they were built with,
  /// or are given weights. False if it has built the slot's model again in the other way; the
  /// module must then answer again.
  bool chooses_weights(std::size_t slot, const JudgedAnswer& answer, bool is_right);
  /// Tries given weights in a later trial whose answer is wrong with the weights as built. If the
  /// answer is then right, all trials begin again with given weights. Otherwise rebuilds the model
  /// as before, and calls it again.
  bool is_right_if_given(std::size_t slot, InputSet& set);
  /// Throws if a kernel or an extension is wrong after some of its weights change in place.
  void check_weights_read(std::size_t slot);
  /// Gives an extension new tensors for these slots, because the weights in their memory changed.
  void renew_weights(std::span<const std::size_t> slots);
  void call(std::size_t slot);
  /// call() with another memory content than in the previous call.
  void call_on_next_poison(std::size_t slot);
  /// Makes one call on a slot's inputs and returns the answer of the candidate's process.
  protocol::Message send_call(std::size_t slot, protocol::CallMode mode);
  /// The observations in an answer, without its findings. Nothing if the message is too short.
  static std::optional<protocol::CalledBody> called_of(const protocol::Message& message);
  void take_findings(std::string_view bodies);
  void take_class(const protocol::CalledBody& called);
  void take_read_back();
  void take_noted(const protocol::CalledBody& called);
  void take_profile(std::string_view body);
  void flag(std::string_view name);
  void check_clean() const;
  /// True if a traced block must precede the next block: once among the first few blocks, and later
  /// at random. In a traced block the judge traces launches and checks an output. Its calls look to
  /// the candidate's code like calls of any other block.
  bool is_looked_before();
  void check_own() const;
  bool may_have_dead_kernels() const;
  /// Ablation run: calls in which launches of the candidate's own kernels do nothing. If the
  /// answers are still right, these kernels do not compute them. The first such call has new
  /// inputs; others have the input distributions.
  void run_ablation();
  /// The result of calls of an ablation run.
  enum class Ablation : std::uint8_t {
    kUnknown,   ///< the call fails without its kernels, or kbench could not skip all launches
    kNeeded,    ///< a right answer became wrong
    kNothing,   ///< wrong in any case, or right by memory contents that need no kernel
    kUnneeded,  ///< right without its kernels
  };
  /// `earlier`: the answers to other inputs, which memory may still contain.
  Ablation ablate(std::size_t slot, const std::vector<at::Tensor>& earlier);
  Ablation ablate_in_distributions();
  /// True if memory cannot contain the set's answer by chance: it is neither a single value, nor an
  /// input, nor an earlier answer.
  bool is_decisive(InputSet& set, const std::vector<at::Tensor>& earlier) const;
  void run_profile();
  void check_red_zones(std::size_t slot);
  double usual_limit_s() const;
  double call_limit_s() const;
  /// How long to wait for calls with that limit. The executor needs additional time, in which it
  /// ends the call and reports the position.
  double patience_s(double limit_s) const;

  void run_trials();
  void run_distributions();
  /// Judges the answer to one input distribution. True if the remaining distributions cannot change
  /// the verdict.
  bool run_distribution(std::size_t slot, const std::string& distribution, bool& mismatched);
  /// Judges answers to further sets of a distribution, up to the first wrong answer. True if there
  /// were answers, and all were right. Appends the results to asked_again_.
  bool is_right_again(std::size_t slot, const std::string& name,
                      std::span<const JudgedProblem::FurtherSet> further);
  /// Judges answers to three fresh sets, once for each candidate. The result holds for all near
  /// misses in that distribution. False for any other distribution.
  bool is_right_afresh(std::size_t slot, const std::string& name);
  /// True if further sets show that a wrong answer to a distribution counts as right.
  bool settles_distribution(std::size_t slot, const std::string& distribution,
                            const JudgedAnswer& judged);
  /// True if further sets in that slot show that the trials' near misses count as right: those in
  /// asked_again_ from `first` on. If not, they become results like others.
  bool settles_trials(std::size_t slot, std::size_t first);
  /// True if further sets show that a near miss in the output of a timed call counts as right.
  bool settles_timed(std::size_t slot, const JudgedAnswer& judged);
  /// Throws if the candidate wrote to read-only memory: of any set, or of these slots.
  void refuse_written();
  void refuse_written(std::span<const std::size_t> slots);
  JudgedAnswer judge_outputs(std::size_t slot, InputSet& set);
  /// Sets a flag if the candidate does not update the state that the reference updates, or updates
  /// it to other values.
  void check_state(std::size_t slot, InputSet& set);
  /// Replaces indices by the reference's if the elements that they name are equal.
  at::Tensor without_ties(std::size_t slot, std::size_t output, const at::Tensor& got);
  /// Throws if a right answer depends on register contents or warp order of a GPU: see
  /// Artifact::undefined_ptx.
  void check_undefined(std::size_t slot, InputSet& set);
  void check_next_calls(std::size_t slot);
  /// Sets the flags of non-finite deviations (deviates()).
  void flag_deviations(std::size_t slot, InputSet& set);
  void check_repeatable(std::size_t slot, bool mismatched);
  std::vector<at::Tensor> outputs_in(std::size_t slot) const;
  std::vector<at::Tensor> copy_outputs(std::size_t slot) const;
  std::int64_t outputs_digest(std::size_t slot) const;
  static std::int64_t digest_of(std::span<const at::Tensor> outputs);
  /// Throws if the outputs of a gated call have changed since the end of its time.
  void refuse_late_write(std::size_t slot) const;
  /// Notes the outputs of a call that had inputs of its own. True if an earlier call gave the same
  /// bits.
  bool remember_outputs(std::size_t slot);
  bool is_old_output(std::size_t slot, const Digests& old) const;
  /// Throws if a call wrote nothing although an earlier call gave a right answer.
  void refuse_unwritten(std::size_t slot);
  /// Throws if a wrong answer was not computed by its call: nothing was written, or the answer to
  /// other inputs is in `old`.
  void refuse_old_outputs(std::size_t slot, const TrialResult& result, const Digests& old);
  /// Throws if a call is right when it is not timed, and wrong when it is timed. `result`: the
  /// wrong answer of a timed call.
  void refuse_timed_shortcut(std::size_t slot, const TrialResult& result);
  /// Throws the verdict on wrong answers. `slot`: of the last call.
  void decide_mismatch(std::size_t slot = 0);
  /// Notes the tolerance of the first wrong result, and if an output that must be exact is wrong.
  void note_tolerance(std::size_t slot, InputSet& set, const TrialResult& result, bool is_first);
  /// The largest error and the tolerance, for a message: ": off by up to 4.7e-4, tolerance 1e-4; a
  /// tolerance of 1e-3 would take it". No cause, because the size of an error proves none. Empty if
  /// the error is not finite or within the tolerance.
  std::string error_words(double worst) const;
  /// For a message: a sentence that the wrong answer would be right in eval mode, else empty. Calls
  /// the reference once more, and may call a module once more.
  std::string eval_mode_words(std::size_t slot);
  /// True if the wrong elements of the last call's outputs are elements that no kernel wrote.
  bool is_unwritten(std::size_t slot, const TrialResult& result);
  /// The number of output elements that the last call left as they were before it; 0 if there are
  /// fewer than `least`. A right answer may contain such values, so this makes another call with
  /// another memory content.
  std::int64_t count_unwritten(std::size_t slot, std::int64_t least);
  /// True if a wrong answer changes when memory has another content before the call.
  bool reads_unwritten(std::size_t slot, const std::vector<at::Tensor>& first);
  /// Makes calls with the kinds of memory contents that no compared call has had.
  void run_poisons_left();
  /// The places and the kind of error of the wrong elements, while the outputs are in memory.
  std::optional<WrongPattern> pattern_of(std::size_t slot, InputSet& set,
                                         const TrialResult& result);
  /// Notes the data of a wrong result for decide_mismatch(), while its outputs are in memory.
  void note_wrong(std::size_t slot, InputSet& set, const TrialResult& result, bool is_first);
  void run_timing();
  bool on_gpu() const;
  /// True if caches are flushed before each timed call.
  bool flushes() const;
  /// True if the candidate's code also runs on the host.
  bool has_host_code() const;
  std::optional<TimedRun> time_on_cpu();
  /// Nothing if the GPU gives no times. Then a flag says why.
  std::optional<TimedRun> time_on_gpu();
  /// Times all subjects behind their gates, or in calls alone, and then what else a record has of
  /// them. Throws NoSuchTimes.
  TimedRun time_gates();
  /// Measures the baselines and the candidate, whose next block `measure` runs.
  TimedRun time_sides(std::vector<TimedSide> sides, const std::function<double()>& measure);
  /// Takes SideTiming::wall_ms of each subject.
  void take_caller_times(const TimedRun& run);
  /// Takes SideTiming::span_ms and busy_ms of each subject.
  void take_records(const TimedRun& run);
  /// Lets a subject's process do something. Throws NoSuchTimes if a baseline's process fails,
  /// because that is not the candidate's failure.
  void with_subject(const std::string& name, const std::function<void(Evaluation&)>& work);
  static void with_baseline(Evaluation& process, const std::function<void(Evaluation&)>& work);
  /// Stops the processes of all subjects.
  void stop_subjects();
  /// Puts the times into the record.
  void note_times(TimedRun run);
  /// Opens the gates for as many of gate_slots_ as can be queued. True if calls cannot be queued,
  /// so each is to be made alone. Throws NoSuchTimes.
  bool open_gates();
  /// True if calls that cannot be queued for this reason can be timed alone.
  static bool is_made_alone(std::string_view why);
  /// Opens the gates of all subjects for calls that are made alone (BlockKind::kAlone).
  void open_alone();
  /// The requested baselines that have a process.
  void choose_baselines();
  /// Lets the processes of baselines build their models and make calls, in which compilers and
  /// autotuners finish. The GPU may be used by others meanwhile.
  void prepare_baselines();
  /// The same for one process.
  void warm_up();
  /// open_gate() for all subjects, and the time of a block without calls. Leaves out baselines that
  /// fail, and compiled ones whose calls cannot be queued.
  void open_all(std::span<const std::size_t> slots);
  /// Prepares gated calls on these slots: buffers, calls with an open gate, and a block that does
  /// not count. `copies`: as Gate::copies. `alone`: only buffers, for calls that are made alone.
  /// Throws NoSuchTimes.
  void open_gate(std::span<const std::size_t> slots, bool copies, bool alone);
  /// The time of calls on these slots with an open gate, from their request until the GPU has done
  /// their work. The process is not stopped. Throws NoSuchTimes.
  double open_block_ms(std::span<const std::size_t> slots);
  /// The number of calls in a block, by the duration of the subjects' calls.
  std::size_t calls_of_block() const;
  /// The time of a block without calls. Throws NoSuchTimes if other processes use the GPU, or if
  /// the judge could not see them.
  GateCosts gate_costs();
  /// How long this process has the GPU while the judge's kernel waits. Throws NoSuchTimes if the
  /// kernel does not wait, so that the judge would not see the work of other processes.
  double time_slice_ms();
  /// The duration of the probe after a block.
  double probe_ms(bool is_probed) const;
  /// The same, of an empty call that is made alone.
  double empty_call_ms();
  static void take_empty_blocks(int count, const std::function<GatedBlock()>& run,
                                const std::function<void(const GatedBlock&)>& take);
  /// Memory for the outputs of this many calls, and for their temporaries.
  SharedBuffer output_memory(std::size_t calls, bool alone);
  /// Lets the process queue calls, and returns the places of their outputs. `limit_ms`: how long
  /// the gate stays closed for that; 0: the gate is open. Throws NoSuchTimes.
  std::vector<protocol::OutputPlace> queue_calls(std::span<const std::size_t> slots,
                                                 double limit_ms, BlockKind kind);
  static std::vector<protocol::OutputPlace> take_queued(protocol::Message& message);
  /// Draws the inputs of queued calls, and encrypts them. Returns the keys.
  std::vector<protocol::EncryptionKey> draw_encrypted(std::span<const std::size_t> slots);
  /// Decrypts inputs and flushes the cache. False if another context ran on the GPU meanwhile.
  bool decrypt_inputs(std::span<const std::size_t> slots,
                      std::span<const protocol::EncryptionKey> keys);
  /// Draws inputs and lets the process make one call, or none. The time ends when the judge's own
  /// kernel runs after the answer.
  GatedBlock run_alone(std::span<const std::size_t> slot, BlockKind kind = BlockKind::kAlone);
  /// Decrypts inputs, opens the gate for queued calls and takes their time. The process is stopped.
  /// `probe_ms`: duration of the probe afterwards.
  GatedBlock run_queued(std::span<const std::size_t> slots,
                        std::span<const protocol::EncryptionKey> keys, double probe_ms);
  /// Queues calls, stops the process, draws their inputs, opens the gate and takes the time.
  GatedBlock run_block(std::span<const std::size_t> slots, BlockKind kind = BlockKind::kTimed);
  /// Adds to the candidate's times the work of its blocks after their completion words.
  void count_late_ends(TimedRun& run);
  /// Times blocks of one call for all subjects. If the candidate's single calls are slower than its
  /// calls in larger blocks, the times of single calls count, because a larger block may compute
  /// its calls together.
  void compare_with_single_calls(const TimedRun& run);
  void add_single_calls(std::map<std::string, std::vector<double>>& single_ms);
  /// Counts a block in which the GPU worked outside of the block's time. Throws at the second such
  /// block: CandidateFailure, or NoSuchTimes if the work is not the candidate's.
  void refuse_void_block(const GatedBlock& block, Evaluation& judging);
  /// Makes an additional block, traces its work and checks its outputs. The candidate's code cannot
  /// distinguish it from other blocks.
  void trace_gated_block();
  /// The slots of a block: most of the timed ones, or one. Their number is random, so no call can
  /// know that it is the last one.
  std::vector<std::size_t> gated_slots(bool single) const;
  void keep_queued(std::span<const std::size_t> slots,
                   std::span<const protocol::OutputPlace> places);
  /// Adds the gate's other observations to the raw measurements.
  void note_gate();
  /// The time of a call that was made alone.
  double alone_ms(const GatedBlock& block) const;
  /// Milliseconds of a call of a subject, as the mean over a block. `single`: of one call.
  double time_gated(Evaluation& subject, bool single = false);

  /// Chooses the content of output memory before a timed call. Writes it if the candidate's code
  /// runs on the host.
  void poison_outputs(std::size_t slot);
  /// Sends a request for one call on each slot. `looks`: the process traces the calls. `records`:
  /// the answer has the GPU's records of them.
  protocol::Message make_timed_calls(std::span<const std::uint32_t> slots, bool looks,
                                     bool records);
  /// Milliseconds from the request of a call to its answer, by the judge's clock. The process runs
  /// only meanwhile.
  double time_slot(std::size_t slot, bool looks);
  /// Makes one timed call on a slot, because its output is wanted and not its time.
  void time_once(std::size_t slot);
  /// Times a call on new inputs without a GPU, and checks its output. A traced one may precede it.
  double time_call();
  double time_fresh_call(bool looks);
  /// Milliseconds of a call of the reference in this process.
  double time_reference();
  /// The GPU's records of calls on a slot, as the process reports them: medians. Nothing if there
  /// are none.
  std::optional<DeviceTimes> recorded_times(std::size_t slot, int calls);
  void note_states(const TimedRun& run);
  static std::vector<double> times_in(const protocol::Message& message);
  static std::vector<double> times_of(const protocol::Message& message, std::size_t calls);
  /// After a block: at random, checks the output of one call. Also checks an output that is equal
  /// to an earlier one.
  void look_at_timed_outputs();
  void check_timed_outputs();
  void check_timed_output(std::size_t slot);

  // KernelBench's rules (`--kb-compat`).
  void run_kernelbench_trials();
  void build_kernelbench_model();
  void run_kernelbench_timing();
  std::vector<double> time_candidate_by_kernelbench(std::size_t slot, int calls);
  double kernelbench_time_left_s() const;

  /// The steps after loading, in which kbench's and KernelBench's rules differ.
  struct Steps {
    void (Evaluation::*trials)();
    void (Evaluation::*timing)();
  };
  static const Steps kOwnSteps, kKernelbenchSteps;

  JudgedProblem& problem_;
  EvaluationRequest request_;
  CandidateClient client_;
  std::optional<Stopwatch> watch_;  ///< measures verdict_.phases_s
  std::function<void()> wait_for_quiet_;
  std::vector<CandidateSet> sets_;
  const BaselineProcesses* baselines_ = nullptr;
  std::string why_failed_;                ///< of a baseline's process: it is not used again
  std::string why_not_now_;               ///< the same, for the present candidate only
  std::function<void()> change_weights_;  ///< before a block of the candidate; see ChangedWeights
  std::map<std::string, Evaluation*> timed_baselines_;
  Evaluation* calibrator_ = nullptr;  ///< the process of a baseline that measures empty blocks
  std::unique_ptr<Gate> gate_;
  GateCosts gate_costs_;
  double empty_call_ms_ = 0;             ///< of an empty call that is made alone
  std::vector<std::size_t> gate_slots_;  ///< slots of the calls of a block
  std::map<std::string, std::vector<double>> single_times_;  ///< of single calls, if they count
  bool copies_ = false;    ///< outputs are copied inside of gated times
  bool is_alone_ = false;  ///< each call is made alone (BlockKind::kAlone)
  std::map<std::size_t, std::int64_t> timed_digests_;  ///< of outputs, when time ended
  std::map<std::string, SideTiming> further_;  ///< by subject: times besides those of the score
  std::uint64_t blocks_ = 0;                   ///< number of the candidate's blocks so far
  std::uint64_t first_look_ = 0;               ///< the block that the first traced block precedes
  Digests seen_outputs_, repeated_outputs_;    ///< digests of all outputs; of repeated ones
  bool outputs_repeat_ = false;                ///< honest answers to different inputs may be equal
  std::vector<std::size_t> asked_slots_;       ///< slots of the candidate's last block
  bool unwritten_ = false;                     ///< is_unwritten() of the first wrong result
  bool reads_unwritten_ = false;               ///< reads_unwritten() of the first wrong trial
  PoisonOrder poisons_;
  std::optional<WrongPattern> wrong_pattern_;  ///< of the first wrong result
  double norm_error_ = 0;    ///< the largest norm_error() of an output of a wrong result
  bool called_ = false;      ///< a call has ended
  bool as_built_ = false;    ///< a module's weights are what its constructor made
  bool has_chosen_ = false;  ///< as_built_ is final
  std::optional<double>
      as_built_ratio_;  ///< JudgedAnswer::worst_ratio of an answer as built that may be right
  protocol::BuiltBody built_{};    ///< of the last built model
  bool has_dead_kernels_ = false;  ///< see run_ablation()
  bool by_kernelbench_;
  /// Results of near misses, and of answers to further sets.
  std::vector<TrialResult> asked_again_;
  /// See is_right_afresh(): the distribution, and whether the answers were right.
  std::optional<std::pair<std::string, bool>> asked_afresh_;
  protocol::Clock::time_point start_ = protocol::Clock::now();
  Verdict verdict_;
  /// See note_tolerance().
  std::optional<double> allowed_error_;
  bool is_off_exact_ = false;
};

}  // namespace kbench::worker

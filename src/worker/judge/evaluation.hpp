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
#include "worker/judge/gate.hpp"
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"
#include "worker/timing/timing.hpp"
#include "worker/timing/wall_bound.hpp"

namespace kbench::worker {

/// The cause of a verdict on who took the memory that judging needs.
inline constexpr std::string_view kNoRoom = "no_room_to_judge";
/// The flag of answers that missed the tolerance by so little that the order of additions may
/// decide.
inline constexpr std::string_view kNearToleranceFlag = "near_tolerance";
/// The flag of a module that relies on what its constructor made of the seed.
inline constexpr std::string_view kWeightsBySeed = "weights_by_seed";

/// What the judge is told about one candidate.
struct EvaluationRequest {
  CandidateKind kind = CandidateKind::kKernel;
  LaunchPlan plan;
  pid_t pid = -1;  ///< of the candidate, to freeze it
  double load_limit_s = 120;
  bool builds_late = false;          ///< its first call may wait for compilers
  double asked_limit_s = 0;          ///< of a call, by `--timeout`; 0: by the reference's time
  double call_limit_s = 0;           ///< lowers that; 0: it does not
  bool find_written_source = false;  ///< a second run after a crash: which input was written?
  bool require_clean = false;        ///< reject what raises one of unclean_flags()
  bool require_own = false;          ///< reject what others' kernels compute
  bool all_trials = false;           ///< go on after a clear failure
  bool profile = false;              ///< one more call, counted
  bool has_undefined = false;        ///< its kernels may read registers that they never wrote
  bool lifts_veils = false;          ///< its process can make veiled inputs readable
  bool timed = true;                 ///< once it is right
  bool baseline = false;             ///< no candidate: its process runs the reference
};

/// The judge's verdict: the record without the identity that the driver adds.
struct Verdict {
  Record record;
  std::map<std::string, std::vector<double>> raw_ms;  ///< measurements by side
  std::vector<Finding> findings;                      ///< all that were kept
  Phases phases_s;                                    ///< where the judge's time went
  std::vector<OperatorCost> operators;                ///< of torch, in the counted call of a module
  bool counted = false;                               ///< all that a call did has been counted
  std::map<std::string, std::string> failed_baselines;  ///< that were not timed, and why
  /// By side the GPU at the end of each block; empty where nothing tells it.
  std::map<std::string, std::vector<DeviceState>> states;
  std::map<std::string, DeviceLook> looks;  ///< for others' work on the GPU, by when
};

/// One candidate before the judge: its channel, its buffers, the trials, the times.
class Evaluation {
 public:
  /// `wait_for_quiet` is called once, between correctness and timing: it returns when nothing else
  /// is starting on the device.
  Evaluation(JudgedProblem& problem, EvaluationRequest request, protocol::Channel channel,
             std::function<void()> wait_for_quiet, const BaselineProcesses* baselines = nullptr);
  ~Evaluation();

  Verdict run();

 private:
  /// There are no times by the clock that was asked for, and why, as a flag.
  struct NoSuchTimes {
    std::string_view flag;
  };
  /// A call waited for the device while its stream was held.
  struct HoldFailed {};
  struct WorkBuffer {
    SharedBuffer buffer;
    at::Tensor view;
    std::size_t tensor = 0;  ///< index into the plan's tensors
  };
  struct CandidateSet {
    std::uint64_t version = 0, memory_version = 0;
    std::vector<WorkBuffer> work;
    Poison poison = kPoison;  ///< what memory holds before the next call, or held before the last
  };

  using Digests = std::set<std::int64_t>;

  void find_no_room(std::string_view what);
  void check_structure() const;
  void wait_for(protocol::MessageType type, protocol::Message& message, double limit_s,
                std::string_view during);
  /// Throws if a message did not come, reports a failure, or is not of that type.
  void take_received(protocol::ReceiveStatus status, protocol::MessageType type,
                     protocol::Message& message, double limit_s, std::string_view during);
  void share(std::size_t slot);
  std::vector<SharedBuffer> work_memory(const std::vector<std::size_t>& tensors);
  void add_work_buffer(CandidateSet& set, std::size_t tensor, at::ScalarType dtype,
                       SharedBuffer memory);
  const Slot& slot_of(InputSet& set, const BoundTensor& tensor) const;
  /// Has a module build the model of a slot, with weights that it comes by in the way chosen.
  void build_model(std::size_t slot);
  void take_built(const protocol::Message& message);
  /// Decides by a module's first answers if its models stay as they are built or are given weights.
  /// False if the model of the slot was built anew, in the other way: it has to answer again.
  bool chooses_weights(std::size_t slot, const JudgedAnswer& answer, bool is_right);
  /// Tries given weights in a later trial that is wrong as built. If they are right there, all
  /// trials begin again with them. Otherwise the model answers as built again.
  bool is_right_if_given(std::size_t slot, InputSet& set);
  /// Throws where a kernel or an extension is wrong once some of its weights change in place.
  void check_weights_read(std::size_t slot);
  /// Gives extensions new tensors of weights that have changed in the memory of those slots.
  void renew_weights(std::span<const std::size_t> slots);
  void call(std::size_t slot);
  /// The same with other memory contents before it than the last time.
  void call_on_next_poison(std::size_t slot);
  /// One call on a slot's inputs, as the candidate's process answers it.
  protocol::Message send_call(std::size_t slot, protocol::CallMode mode);
  /// What its answer says besides findings; none where it is no such.
  static std::optional<protocol::CalledBody> called_of(const protocol::Message& message);
  void take_findings(std::string_view bodies);
  void take_class(const protocol::CalledBody& called);
  void take_read_back();
  void take_noted(const protocol::CalledBody& called);
  void take_profile(std::string_view body);
  void flag(std::string_view name);
  void check_clean() const;
  /// Of each block by chance, and of one of the first for certain: one more like it comes before,
  /// in which it is looked at what runs and what comes out. To the candidate's own code its calls
  /// are like those that count.
  bool is_looked_before();
  void look_at_block(Block block);
  void check_own() const;
  bool may_have_dead_kernels() const;
  /// Calls in which launches of its own kernels do nothing: if the answers are right all the same,
  /// these kernels are not what computes them. First with inputs that it has not seen, then with
  /// the distributions.
  void run_ablation();
  /// What the answers to such calls say.
  enum class Ablation : std::uint8_t {
    kUnknown,   ///< it raises without its kernels, or launches some that kbench cannot hold back
    kNeeded,    ///< a right answer became a wrong one
    kNothing,   ///< wrong either way, or right by what memory may hold without any kernel
    kUnneeded,  ///< right without them
  };
  /// `earlier`: the answers to other inputs, which memory may still hold.
  Ablation ablate(std::size_t slot, const std::vector<at::Tensor>& earlier);
  Ablation ablate_in_distributions();
  /// True if no memory holds the set's answer by chance: it is neither one value, nor an input, nor
  /// an earlier answer.
  bool is_decisive(InputSet& set, const std::vector<at::Tensor>& earlier) const;
  void run_profile();
  void check_red_zones(std::size_t slot);
  double usual_limit_s() const;
  double call_limit_s() const;
  /// How long to wait for calls of that limit: the executor ends them itself and says where.
  double patience_s(double limit_s) const;

  void run_trials();
  void run_distributions();
  /// Asks with inputs of one distribution; true where nothing is left to be found out.
  bool run_distribution(std::size_t slot, const std::string& distribution, bool& mismatched);
  /// Asks with further sets of a distribution until an answer is wrong: whether none is, of those
  /// that say something. Keeps the results in asked_again_.
  bool is_right_again(std::size_t slot, const std::string& name,
                      std::span<const JudgedProblem::FurtherSet> further);
  /// Asks with three fresh sets, once for each candidate: what they say holds for all near misses
  /// in that distribution. Of another distribution it is false.
  bool is_right_afresh(std::size_t slot, const std::string& name);
  /// Whether a wrong answer to a distribution is settled as right.
  bool settles_distribution(std::size_t slot, const std::string& distribution,
                            const JudgedAnswer& judged);
  /// Whether near misses in trials, those in asked_again_ from `first` on, are settled as right, by
  /// sets in that slot; else they become results like others.
  bool settles_trials(std::size_t slot, std::size_t first);
  /// Whether a near miss in the output of a timed call is settled as right.
  bool settles_timed(std::size_t slot, const JudgedAnswer& judged);
  /// Throws where it wrote to what is not its own: to anything, or to those sets.
  void refuse_written();
  void refuse_written(std::span<const std::size_t> slots);
  JudgedAnswer judge_outputs(std::size_t slot, InputSet& set);
  /// Flags who leaves what the reference changes of its state as it was, or makes another thing of
  /// it.
  void check_state(std::size_t slot, InputSet& set);
  /// Indices as the reference gives them wherever they name an element as good.
  at::Tensor without_ties(std::size_t slot, std::size_t output, const at::Tensor& got);
  /// Throws where a right answer is so by what a GPU happens to have in registers: see
  /// Artifact::undefined_ptx.
  void check_undefined(std::size_t slot, InputSet& set);
  void check_next_calls(std::size_t slot);
  /// Flags answers that depart from what is not finite.
  void flag_deviations(std::size_t slot, InputSet& set);
  void check_repeatable(std::size_t slot, bool mismatched);
  std::vector<at::Tensor> outputs_in(std::size_t slot) const;
  std::vector<at::Tensor> copy_outputs(std::size_t slot) const;
  std::int64_t outputs_digest(std::size_t slot) const;
  static std::int64_t digest_of(std::span<const at::Tensor> outputs);
  /// Throws if the outputs of a gated call are no longer what they were when its time ended.
  void refuse_late_write(std::size_t slot) const;
  /// Of a call with inputs of its own. Returns whether one before gave the same bits.
  bool remember_outputs(std::size_t slot);
  bool is_old_output(std::size_t slot, const Digests& old) const;
  /// Throws where a call wrote nothing, and one before gave a right answer.
  void refuse_unwritten(std::size_t slot);
  /// Throws where a wrong answer was not made by the call that it is given for, and calls before
  /// gave right ones.
  void refuse_old_outputs(std::size_t slot, const TrialResult& result, const Digests& old);
  /// Throws where a call whose output was wrong gives the right one when it is not timed, and the
  /// wrong one when it is.
  void refuse_timed_shortcut(std::size_t slot, const TrialResult& result);
  /// Throws what becomes of wrong answers; `slot` is that of the last call.
  void decide_mismatch(std::size_t slot = 0);
  /// Which error would have been right in the first wrong result, and whether one is wrong that no
  /// tolerance takes.
  void note_tolerance(std::size_t slot, InputSet& set, const TrialResult& result, bool is_first);
  /// ": off by up to 4.7e-4, tolerance 1e-4; a tolerance of 1e-3 would take it": the size of the
  /// largest error is no proof of its cause. Empty where it has no size.
  std::string error_words(double worst) const;
  /// What a wrong answer is where it would be right in eval mode, else empty: the reference is
  /// asked once more, and a module called once more.
  std::string eval_mode_words(std::size_t slot);
  /// Whether what is wrong in the outputs of the last call is what no kernel wrote.
  bool is_unwritten(std::size_t slot, const TrialResult& result);
  /// Elements of the outputs that the last call left as they were before it; 0 if they are fewer
  /// than `least`. Where an answer may hold such elements by right, calls once more.
  std::int64_t count_unwritten(std::size_t slot, std::int64_t least);
  /// Whether a wrong answer becomes another one where memory holds something else before the call.
  bool reads_unwritten(std::size_t slot, const std::vector<at::Tensor>& first);
  /// Calls with those memory contents that no compared call has found yet.
  void run_poisons_left();
  /// What decide_mismatch() wants to know of a wrong result while its outputs are there.
  void note_wrong(std::size_t slot, InputSet& set, const TrialResult& result, bool is_first);
  void run_timing();
  /// Times all subjects by the gate, or in the way of `--timing` if it cannot be opened.
  void time_subjects();
  /// Opens the gates of the baselines and of the candidate; false, and a flag, if one has none.
  bool opens_gate();
  /// Prepares gated calls on these slots: buffers, rehearsals, and a block that does not count.
  /// Throws NoSuchTimes.
  void open_gate(std::span<const std::size_t> slots, bool copies);
  /// Opens the gates for as many of gate_slots_ as can be queued, or for calls alone.
  void queue_what_fits();
  /// The same for calls alone, and flags why.
  void open_alone(std::string_view why);
  /// The same of all subjects.
  void open_gates(std::span<const std::size_t> slots);
  /// How many calls a block has, by what they take.
  std::size_t calls_of_block() const;
  /// What a block costs besides its calls. Throws NoSuchTimes if others use the GPU.
  GateCosts gate_costs();
  /// Memory for the outputs of so many calls, with what they use besides.
  SharedBuffer output_memory(std::size_t calls);
  /// Has the process queue calls, and returns where their outputs will lie. `limit_ms`: how long a
  /// closed gate waits for that; 0: the gate is open. Throws NoSuchTimes.
  std::vector<protocol::OutputPlace> queue_calls(std::span<const std::size_t> slots,
                                                 double limit_ms, BlockKind kind);
  static std::vector<protocol::OutputPlace> take_queued(protocol::Message& message);
  /// Draws inputs of queued calls, encrypted under the keys that it returns.
  std::vector<protocol::VeilKey> draw_encrypted(std::span<const std::size_t> slots);
  /// Decrypts inputs and flushes the cache; false if another context worked meanwhile.
  bool decrypt_inputs(std::span<const std::size_t> slots, std::span<const protocol::VeilKey> keys);
  /// Draws inputs and has the process make one call, or none: the time is that until the judge's
  /// own kernel runs afterwards.
  GatedBlock run_alone(std::span<const std::size_t> slot, BlockKind kind = BlockKind::kAlone);
  /// Decrypts inputs, opens the gate for queued calls and takes their time. The process is stopped.
  GatedBlock run_queued(std::span<const std::size_t> slots, std::span<const protocol::VeilKey> keys,
                        double probe_ms);
  /// Queues calls, stops the process, draws their inputs, opens the gate and takes the time.
  GatedBlock run_block(std::span<const std::size_t> slots, BlockKind kind = BlockKind::kTimed);
  /// Adds to the candidate's times what its blocks worked on after their completion words.
  void count_late_ends(TimedRun& run);
  /// Times blocks of one call of all subjects. If the candidate's calls are slower there, these
  /// times count: calls of larger blocks may have been computed together.
  void compare_with_single_calls(const TimedRun& run);
  void add_single_calls(std::map<std::string, std::vector<double>>& single_ms);
  /// Counts a block that worked outside of its time. Throws for the second one: CandidateFailure,
  /// or NoSuchTimes if the work is not the candidate's.
  void refuse_void_block(const GatedBlock& block, Evaluation& judging);
  /// One more block, which looks the same to the candidate's code: its work is traced, and its
  /// outputs are checked.
  void trace_gated_block();
  /// The slots of a block: most of the timed ones, or one. Their number is random, so no call can
  /// know that it is the last.
  std::vector<std::size_t> gated_slots(bool single) const;
  void keep_queued(std::span<const std::size_t> slots,
                   std::span<const protocol::OutputPlace> places);
  /// Adds to the raw measurements what the gate saw besides.
  void note_gate();
  /// Milliseconds of a call, the mean of a block, for each block.
  std::vector<double> time_gated(Evaluation& subject, Block block, bool single = false);
  std::vector<double> time_candidate(Block block);
  /// Asks the process for a call of each slot, and what runs in them if it `looks`; it may be asked
  /// again before it has answered.
  void ask_for_times(std::span<const std::size_t> slots, bool looks);
  double times_limit_s(std::size_t calls) const;
  protocol::Message await_times(std::size_t calls);
  /// Milliseconds of each call as its process told them.
  std::vector<double> times_told(protocol::Message& message, std::size_t calls, bool looks);
  /// Makes the inputs of a block's counted calls unreadable until each is made: else a call, and
  /// those that are discarded above all, could compute what later ones are asked for.
  void veil_inputs(std::span<const std::size_t> slots, Block block);
  bool veils_inputs() const;
  /// Encrypts the inputs of a set that the candidate is given; a second time decrypts them.
  void encrypt_inputs(InputSet& set, const protocol::VeilKey& key);
  /// For what it leaves as its output.
  void time_once(std::size_t slot);
  /// The same of a block, the process thawed for it, while the judge's own clock runs.
  std::vector<double> time_walled(std::span<const std::size_t> slots, Block block,
                                  bool looks = false);
  /// How long the device is kept busy before calls of a process that tells its times, and before
  /// the reference's beside it: as long as a slow host takes to launch a kernel, if they are long
  /// enough for that.
  void choose_lead(const std::vector<TimedSide>& sides);
  double lead_ms() const;
  void note_states(const TimedRun& run);
  /// What an empty kernel takes by the method of the calls; none where there is none to launch.
  std::optional<double> floor_ms();
  /// What a caller feels of each side: see SideTiming::wall_ms.
  std::map<std::string, double> wall_times(const std::vector<TimedSide>& sides,
                                           const TimedRun& run);
  /// What the device's records say of a few more calls of each side: see SideTiming::span_ms. Of a
  /// candidate that tells its times, whose kernels run in them as well.
  std::map<std::string, DeviceTimes> trace(const std::vector<TimedSide>& sides,
                                           const TimedRun& run);
  /// All sides by the clock and held as asked for, or in the next way in which all can be timed.
  TimedRun measure(const std::vector<TimedSide>& asked, const TimingLimits& limits);
  /// Its name in records.
  std::string method() const;
  /// Takes off all measurements what the method adds to them, where that is known.
  void take_overhead_off(TimedRun& run, Timing& timing);
  /// The baselines among the sides once more, as if the candidate were a kernel, whose process
  /// nobody has to watch; null where there is none.
  std::shared_ptr<const OtherTimes> time_beside_kernels(std::vector<TimedSide> sides,
                                                        TimingLimits limits);
  void check_against_floor_and_wall(const Timing& timing);
  /// Takes what an answer says of holding off its end. Throws HoldFailed.
  static void take_held(protocol::Message& message);
  static std::vector<double> times_in(const protocol::Message& message);
  /// Of spans and times at work by turns, those that score. Throws NoSuchTimes.
  std::vector<double> take_device_times(const std::vector<double>& pairs, std::size_t calls);
  static std::vector<double> times_of(const protocol::Message& message, std::size_t calls);
  /// Readies it for all sets that are timed; false where it cannot be run.
  bool prepare_baseline(const std::string& baseline);
  std::vector<double> time_baseline(const std::string& baseline, Block block);
  /// The sets of a block's calls: a kernel's that are discarded may have been seen before.
  std::vector<std::size_t> slots_of(Block block);
  /// Of a block's calls, the last ones, those with inputs that nobody has seen: that count; where a
  /// process tells its times, all.
  int unseen_calls(Block block) const;
  /// After each block: at some of its outputs by chance, and at those that came before.
  void look_at_timed_outputs();
  void check_timed_outputs();
  void check_timed_output(std::size_t slot);
  void freeze(bool frozen);
  /// Throws where its process has run while it was frozen.
  void refuse_running_stopped() const;

  /// Whether its times are told by a process that runs code of the candidate.
  bool tells_its_times() const;
  /// Whether code of the candidate runs on the host.
  bool has_host_code() const { return request_.kind != CandidateKind::kKernel && !beside_kernels_; }
  bool flushes() const;
  /// Of those who do not fill them themselves before each timed call: they could leave that out.
  void poison_outputs(std::span<const std::size_t> slots);
  void copy_as_kept(std::size_t from, std::size_t to);
  /// Milliseconds of all that is done for a timed call but the call; `kept`: with what a
  /// candidate's process does besides.
  double empty_call_ms(bool kept);
  void calibrate_walls();
  /// Looks whether another context has the GPU while the candidate, whose host code could have left
  /// it work, is stopped.
  void look_for_others(DeviceLook& so_far);
  /// Whether so much of the GPU was others' that times are none; flags what there was of it.
  bool is_shared();
  /// Ends the timing of a candidate that gets no times: what was measured is told with its details.
  void leave_untimed(const TimedRun& run);
  /// The times to be believed of each side: those told, or what the judge's clock bounds them by.
  /// Says which in `timing`.
  std::map<std::string, std::vector<double>> bound_times(
      const std::map<std::string, std::vector<double>>& told, Timing& timing);

  // KernelBench's rules (`--kb-compat`).
  void run_kernelbench_trials();
  void build_kernelbench_model();
  void run_kernelbench_timing();
  std::vector<double> time_candidate_by_kernelbench(std::size_t slot, int calls);
  double kernelbench_time_left_s() const;

  /// In what the two sets of rules differ most: what follows loading.
  struct Steps {
    void (Evaluation::*trials)();
    void (Evaluation::*timing)();
  };
  static const Steps kOwnSteps, kKernelbenchSteps;

  JudgedProblem& problem_;
  EvaluationRequest request_;
  protocol::Channel channel_;
  std::optional<Stopwatch> watch_;  ///< of verdict_.phases_s
  std::function<void()> wait_for_quiet_;
  std::vector<CandidateSet> sets_;
  const BaselineProcesses* baselines_ = nullptr;
  std::unique_ptr<Gate> gate_;
  bool gated_ = false;  ///< all subjects are timed by the gate
  GateCosts gate_costs_;
  std::vector<std::size_t> gate_slots_;                      ///< of the calls that a block can have
  std::map<std::string, std::vector<double>> single_times_;  ///< of single calls, if they count
  bool copies_ = false;                                ///< outputs are copied inside of gated times
  bool is_alone_ = false;                              ///< gated calls are alone: BlockKind::kAlone
  double alone_ms_ = 0;                                ///< what no call alone takes
  std::map<std::size_t, std::int64_t> timed_digests_;  ///< of outputs at the end of gated times
  bool held_ = false;  ///< timed calls start when all of their work has been queued
  protocol::TimeClock clock_ = protocol::TimeClock::kEvents;  ///< by which they are timed
  bool beside_kernels_ = false;      ///< baselines are timed as beside a kernel
  bool is_aside_ = false;            ///< calls are not those that count
  std::vector<DeviceTimes> traced_;  ///< of calls by the device's records, since it was cleared
  std::vector<DeviceTimes> looked_;  ///< the same of blocks that were looked at
  std::uint64_t blocks_ = 0;         ///< of the candidate, so far
  std::uint64_t first_look_ = 0;     ///< before which of them
  Digests seen_outputs_, repeated_outputs_;  ///< of what calls gave, and gave more than once
  bool outputs_repeat_ = false;              ///< answers to other inputs may rightly be the same
  std::vector<protocol::VeilKey> veils_;     ///< of the sets that are timed next
  std::size_t next_slot_ = 0;                ///< of calls that are discarded
  std::vector<std::size_t> asked_slots_;     ///< of the candidate's last block
  double lead_ms_ = 0;
  std::map<std::string, WalledSide> walls_;  ///< by side
  /// What was seen of others' work: before walls are calibrated and after, and beside baselines.
  DeviceLook calibration_look_, baseline_look_;
  bool frozen_ = false;
  std::optional<double> stopped_at_s_;  ///< its processor's time when it was frozen
  double ran_stopped_s_ = 0;            ///< by how much that has grown while it was, in all
  bool unwritten_ = false;              ///< see is_unwritten(): of the first wrong result
  bool reads_unwritten_ = false;        ///< see reads_unwritten(): of the first wrong trial
  PoisonOrder poisons_;
  double norm_error_ = 0;    ///< the largest norm_error() of an output of a wrong result
  bool called_ = false;      ///< one call has come back
  bool as_built_ = false;    ///< a module's weights are what its constructor made
  bool has_chosen_ = false;  ///< that is no longer to be decided
  std::optional<double> as_built_ratio_;  ///< worst_ratio of an answer as built that may be right
  protocol::BuiltBody built_{};           ///< of the model that was built last
  bool has_dead_kernels_ = false;         ///< its kernels change nothing
  double quickest_ms_ = 0;  ///< of the calls after the first, messages included; 0 before
  bool by_kernelbench_;
  /// Near misses, and answers to further sets.
  std::vector<TrialResult> asked_again_;
  /// See is_right_afresh(): the distribution that was asked, and whether it was right.
  std::optional<std::pair<std::string, bool>> asked_afresh_;
  protocol::Clock::time_point start_ = protocol::Clock::now();
  Verdict verdict_;
  /// See note_tolerance().
  std::optional<double> allowed_error_;
  bool is_off_exact_ = false;
};

}  // namespace kbench::worker

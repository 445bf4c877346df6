// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"
#include "kbench/profile.hpp"
#include "kbench/values.hpp"

namespace kbench {

/// What became of one candidate: exactly one of these.
enum class Outcome : std::uint8_t {
  kCorrect,
  kCompileFailure,
  kLoadFailure,
  kUnsupported,
  kRejected,
  kCrash,
  kTimeout,
  kOutOfMemory,
  kIllegalWrite,
  kWrongShape,
  kWrongDtype,
  kMismatch,
  kNondeterministic,
  kCheat,
  kMissing,
  kProblemFailure,
  kHarnessFault,
};

/// One row per outcome: its name in records, and whose it is.
struct OutcomeRow {
  Outcome outcome;
  std::string_view name;   ///< "compile_failure"
  std::string_view label;  ///< "compile failure", for people
  bool of_candidate;       ///< counts in the denominators; false: the problem's or kbench's own
};

std::span<const OutcomeRow> outcomes();
std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from_name(std::string_view name);

/// The stage at which a candidate's way ended.
enum class Stage : std::uint8_t { kRoster, kCompile, kLoad, kCorrectness, kTiming, kDone };
std::string_view to_string(Stage stage);
std::optional<Stage> stage_from_name(std::string_view name);

/// The first element that missed the tolerance.
struct WrongElement {
  std::size_t output = 0;           ///< which of the outputs
  std::vector<std::int64_t> index;  ///< its multi-index
  std::string expected, got;        ///< as printed with enough digits ("nan" and "inf" included)
};

/// TrialResult::family of inputs as the problem draws them.
inline constexpr const char* kDrawnFamily = "drawn";

/// One correctness trial on one input family.
struct TrialResult {
  int trial = 0;
  Interned family = kDrawnFamily;
  Interned sizes;  ///< of `--sizes`, by name; empty: those of the run
  /// Over all outputs; none: not comparable.
  MaybeNumber max_abs_error = {}, max_rel_error = {};
  MaybeNumber error_ratio = {};  ///< to eager's own error against the oracle, where there is one
  /// The least t with which allclose(rtol = t, atol = t) holds for all outputs; none: it never
  /// does.
  MaybeNumber allclose_at = {};
  std::int64_t wrong_elements = 0;
  std::optional<WrongElement> first_wrong;
};

/// Times of one side, in milliseconds, over `count` measurements.
struct SideTiming {
  double median_ms = 0, mean_ms = 0, std_ms = 0, min_ms = 0, max_ms = 0;
  std::int64_t count = 0;
  MaybeNumber clock_mhz = {};          ///< median SM clock while it was measured
  MaybeNumber q1_ms = {}, q3_ms = {};  ///< quartiles; none in files of older versions
  /// 95 % interval of the median by a bootstrap over blocks; none where nothing tells it.
  MaybeNumber lo_ms = {}, hi_ms = {};
  /// Median by the host's clock of calls that start on an idle device and are waited for: what a
  /// caller feels, launching included. None where `bounds` tells of it, and where nobody looked.
  MaybeNumber wall_ms = {};
  /// What a GPU's own records say of some more calls: from the first start of a call's work to the
  /// last end, and while any of it ran.
  MaybeNumber span_ms = {}, busy_ms = {};
};

/// One side as its own clock and as the judge's had it, in milliseconds of a call: medians.
struct SideBound {
  double told_ms = 0;      ///< by the candidate's process; for a baseline, by the judge's device
  double bound_ms = 0;     ///< over blocks: the judge's wall of a block by its calls, less overhead
  double overhead_ms = 0;  ///< what a call costs there beside itself
  std::int64_t blocks = 0;
  MaybeNumber told_lo_ms = {}, told_hi_ms = {};  ///< 95 % interval of told_ms
};

/// Baselines by another method than that of the record.
struct OtherTimes {
  Interned method;
  std::map<Interned, SideTiming> sides;
  MaybeNumber overhead_ms = {};  ///< no longer in `sides`, as in Timing
};

/// How and how long; `sides` holds "candidate" and each baseline by name.
struct Timing {
  Interned method;  ///< "events_held_net", "events", "wall"
  Interned trust;   ///< "own_code", "confirmed", "self_reported"
  std::map<Interned, SideTiming> sides;
  /// By side; empty where the candidate's process runs no host code of its own, and where nobody
  /// looked.
  std::map<Interned, SideBound> bounds;
  /// What the method adds to the time of a call's work, which `sides` no longer holds; none where
  /// it is not known, or the candidate's process tells its times.
  MaybeNumber overhead_ms = {};
  /// What an empty kernel takes by the same method, the overhead included; none where no GPU was
  /// timed.
  MaybeNumber floor_ms = {};
  /// Baselines as they are timed beside a kernel; only of references that `kbench baseline` times
  /// on a GPU, else null.
  std::shared_ptr<const OtherTimes> beside_kernels = {};

  /// Whether `sides` holds bounds, one for each block, because the candidate's claim was not
  /// confirmed.
  bool is_bounded() const;
};

/// Baseline time over candidate time: ratio of medians, with a bootstrap interval (95 %).
struct Speedup {
  Interned baseline;
  double value = 0, lo = 0, hi = 0;
  bool stored = false;  ///< the baseline's time is of an earlier run (`--baseline-file`)
};

/// What a speedup's interval says: "faster" or "slower" where all of it is beyond a ratio of 1.005
/// (less than that may be where in memory things lie), "same" where all of it is within one
/// of 1.02, else "ambiguous"; empty where there is no interval.
std::string_view relation_of(const Speedup& speedup);

struct CompileInfo {
  double seconds = 0;
  bool cached = false;
  Interned way;                  ///< "nvrtc", "nvrtc + clang++ 14.0.6", "nvcc 13.0.88 + g++ 12.2.0"
  std::optional<double> host_s;  ///< of `seconds`: those of host halves of the split
  Interned fallback;             ///< why the split did not do and nvcc was asked; else empty
};

/// Where a record's raw measurements and log stand in the details file.
struct DetailsRef {
  std::uint64_t offset = 0, length = 0;  ///< bytes in <run>.details.jsonl
};

/// Where a record's line stands that was read from a run file.
struct RecordPlace {
  std::uint32_t file = 0;    ///< of RunFile::files
  std::uint32_t length = 0;  ///< bytes, without its end; 0: the record was read from no file
  std::uint64_t offset = 0;  ///< bytes
};

/// What a record's line holds and read_runs() leaves there: half of a line may be of these, of
/// which a report shows a few. RunDetails has them.
struct LeftInLine {
  bool findings = false;  ///< some that no failure's own message tells
  bool profile = false;
};

/// Finding::kind of what ended a launch: the failure's own message tells it too.
inline constexpr const char* kFaultFinding = "fault";

/// What the executor's sanitizers saw at one instruction, and the first thread that did it.
struct Finding {
  Interned kind;  ///< kFaultFinding, or the name of the flag that it raises
  Interned kernel, file;
  int line = 0;  ///< of `file`; 0: unknown
  std::array<std::uint32_t, 3> block{}, thread{};
  Interned region;                ///< "output y"; empty: no buffer is meant
  std::int64_t offset_bytes = 0;  ///< in it
  std::string message;            ///< one sentence
  std::uint64_t count = 1;        ///< how often, over all threads and calls
};

inline bool is_fault(const Finding& finding) { return finding.kind == kFaultFinding; }

/// Findings that a record holds itself; the details hold all that were kept.
inline constexpr std::size_t kRecordFindings = 3;
/// Findings that are kept of a candidate.
inline constexpr std::size_t kMaxFindings = 20;

/// Names of the flags that findings raise, and of the one for a kernel that looked at a clock:
/// what `--require clean` does not let pass.
std::span<const std::string_view> unclean_flags();

/// Record::judge of kbench's own verdicts.
inline constexpr const char* kOwnJudge = "kbench";
/// Record::judge of kbench's own verdicts on models in eval mode (`--eval-mode`): another question
/// than the usual one, so no verdict on one answers the other.
inline constexpr const char* kEvalModeJudge = "kbench_eval_mode";
/// Record::judge of verdicts that KernelBench gave and `kbench import` read.
inline constexpr const char* kKernelBenchJudge = "kernelbench";
/// Record::judge of verdicts that kbench gave by KernelBench's rules (`--kb-compat`).
inline constexpr const char* kCompatJudge = "kb_compat";
/// True for verdicts by kbench's own rules, on models in either mode.
bool is_own_judge(const Interned& judge);

/// Record::kernel_class where nobody looked whose kernels ran.
inline constexpr const char* kUnknownClass = "unknown";

/// Record::cause of a module that imports what is not installed.
inline constexpr const char* kMissingPackage = "missing_package";

/// What is written of one candidate. Only `correct` carries timing and speedups. Texts that recur
/// in a run are interned, so that a hundred thousand records stay small.
struct Record {
  Interned model, problem;  ///< Problem::key
  int level = 0;
  int sample = 0;
  std::string candidate;  ///< its id: the path, or the caller's
  CandidateKind kind = CandidateKind::kKernel;
  Interned precision = "native";
  Interned device;  ///< model of the device ("NVIDIA H200", "cpu")
  Interned torch;   ///< version of torch
  Interned problem_hash, options_hash, judge_hash;
  Interned sizes;  ///< constants that were not the file's, as a JSON object in one line
  std::optional<Shrunk> shrunk;  ///< where `--shrink` found the problem above its limits
  std::string candidate_hash;
  /// Whose verdict it is, by whose rules; verdicts of different judges are never taken for one
  /// another.
  Interned judge = kOwnJudge;
  Outcome outcome = Outcome::kHarnessFault;
  Stage stage = Stage::kRoster;
  Interned cause;                      ///< stable slug: "syntax_error", "out_of_bounds_write", …
  std::string message;                 ///< one sentence for people
  std::optional<Interned> correct_at;  ///< row whose errors a mismatch's are as small as; no proof
  std::optional<CompileInfo> compile;
  std::vector<TrialResult> correctness;
  std::optional<Timing> timing;
  std::vector<Speedup> speedup;
  std::optional<SpeedOfLight> sol;  ///< of what is right and timed, where the least work is known
  std::int64_t launches = 0;        ///< kernel launches per call
  std::vector<std::string> flags;   ///< "nondeterministic_bits", "public_seed", …
  Interned kernel_class = "none";   ///< whose kernels ran: own, mixed, library, none, unknown
  Interned weights;                 ///< one of protocol::kWeightRules; empty: none were given
  /// The reference's parameters and buffers that have no place in a module; as built, those whose
  /// values it does not hold. By name, the first few.
  std::vector<std::string> unplaced;
  double seconds = 0;  ///< this candidate's whole way through kbench, queueing excluded
  /// When its verdict was there, in seconds since 1970 (UTC); none in files of older versions.
  MaybeNumber ended_at = {};
  std::optional<DetailsRef> details;
  RecordPlace place;  ///< in the files that it was read from; not part of its line
  LeftInLine left;    ///< not part of it either
  /// The least t with which allclose(rtol = t, atol = t) holds in all trials, infinity where it
  /// never does; none where nobody looked. What read_runs() makes of `correctness`, of which it
  /// keeps one trial; not part of the line.
  MaybeNumber allclose_at = {};
  /// Id of the candidate with equal code that was judged; empty: this one was judged itself.
  std::string reused_from;
  /// Names of the trivial answers that pass the whole check of its problem; empty: each is caught;
  /// no value where that was not asked.
  std::optional<std::vector<std::string>> degenerate_problem;
  std::vector<Finding> findings;         ///< the first few
  std::uint64_t findings_count = 0;      ///< with those that are not here
  std::vector<KernelProfile> profile;    ///< `--profile`: in the order of the launches
  std::optional<TimeEstimate> estimate;  ///< `--profile`: for the GPU that was asked for
};

/// Whether no kernel and no operator that computes was seen in the calls that were looked at. Only
/// kbench's own judge looks.
bool computes_nothing(const Record& record);

/// The identity of a verdict, used by --resume: a digest of (model, problem, sample, precision,
/// device model, torch, hashes of problem, candidate, options and judge, and the judge's name).
std::string record_key(const Record& record);
/// Whether both have the same key, without computing it.
bool same_key(const Record& a, const Record& b);

nlohmann::json to_json(const Finding& finding);
/// Throws kbench::Error naming the faulty field.
Finding finding_from_json(const nlohmann::json& json);

/// The record's line in a run file, described in RUN_FILE.md: measured numbers to six significant
/// digits, null for what is not finite, and no timing and no speedup for what is not `correct`,
/// whatever the struct holds.
nlohmann::json to_json(const Record& record);
/// Throws kbench::Error naming the field that is missing, of the wrong type or of no known value,
/// and where an outcome other than `correct` carries times.
Record record_from_json(const nlohmann::json& json);

}  // namespace kbench

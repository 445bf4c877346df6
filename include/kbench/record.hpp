// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
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

/// One row per outcome: its names, and if it is the candidate's fault.
struct OutcomeRow {
  Outcome outcome;
  std::string_view name;   ///< "compile_failure"
  std::string_view label;  ///< "compile failure", for people
  bool of_candidate;       ///< counts in metrics; false: a fault of the problem or of kbench
};

std::span<const OutcomeRow> outcomes();
std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from_name(std::string_view name);

/// The stage at which kbench's work on a candidate ended.
enum class Stage : std::uint8_t { kManifest, kCompile, kLoad, kCorrectness, kTiming, kDone };
std::string_view to_string(Stage stage);
std::optional<Stage> stage_from_name(std::string_view name);

/// The first element that missed the tolerance.
struct WrongElement {
  std::size_t output = 0;           ///< index of the output
  std::vector<std::int64_t> index;  ///< its multi-index
  std::string expected, got;        ///< as printed with enough digits ("nan" and "inf" included)
};

/// Where one output is wrong, and how its wrong elements relate to the expected ones.
struct WrongPattern {
  std::size_t output = 0;  ///< index of the output
  std::int64_t wrong = 0, elements = 0;
  std::string where;   ///< "the last 128 elements", "only in column 3"; empty: no regular places
  std::string values;  ///< "all nan", "each 2 times the expected value"; empty: no rule
};

/// TrialResult::distribution of inputs that the problem itself draws.
inline constexpr const char* kDrawnDistribution = "drawn";

/// One correctness trial on one input distribution.
struct TrialResult {
  int trial = 0;
  Interned distribution = kDrawnDistribution;
  Interned sizes;  ///< of `--sizes`, by name; empty: those of the run
  /// Largest errors over all outputs; none: not comparable.
  MaybeNumber max_abs_error = {}, max_rel_error = {};
  MaybeNumber error_ratio = {};  ///< error over eager's, both against the oracle; none: no oracle
  /// The least t with which allclose(rtol = t, atol = t) holds for all outputs; none: it never
  /// does.
  MaybeNumber allclose_at = {};
  std::int64_t wrong_elements = 0;
  std::optional<WrongElement> first_wrong;
  std::optional<WrongPattern> wrong_pattern;  ///< only of the trial that the record's message names
};

/// Times of one timed subject (the candidate or a baseline), in milliseconds, over `count`
/// measurements.
struct SideTiming {
  double median_ms = 0, mean_ms = 0, std_ms = 0, min_ms = 0, max_ms = 0;
  std::int64_t count = 0;
  MaybeNumber clock_mhz = {};          ///< median SM clock while it was measured
  MaybeNumber q1_ms = {}, q3_ms = {};  ///< quartiles; none in files of older versions
  /// 95 % interval of the median by a bootstrap over blocks; none if it is not known.
  MaybeNumber lo_ms = {}, hi_ms = {};
  /// Median time that a caller waits for one call, by the judge's clock. None without a GPU.
  MaybeNumber wall_ms = {};
  /// From the GPU's own records of more calls. `span_ms`: from the first start of a call's work to
  /// the last end. `busy_ms`: the part of it in which any of the work ran.
  MaybeNumber span_ms = {}, busy_ms = {};
};

/// Timing::method of calls that were queued behind the judge's gate.
inline constexpr const char* kGatedMethod = "gated";

/// How a record was timed, and its times. `sides` holds "candidate" and each baseline by name.
struct Timing {
  Interned method;  ///< "gated", "bounded", "wall", "kb_events"
  Interned trust;   ///< "own_clock", "bounded", "self_reported"
  std::map<Interned, SideTiming> sides;

  /// True if the calls were timed one by one, so that the times include host code.
  bool is_bounded() const;
};

/// Baseline time over candidate time: ratio of medians, with a bootstrap interval (95 %).
struct Speedup {
  Interned baseline;
  double value = 0, lo = 0, hi = 0;
  bool stored = false;  ///< the baseline's time comes from an earlier run (`--baseline-file`)
};

/// "faster" or "slower" if the whole interval is beyond a ratio of 1.005, because memory placement
/// alone can cause smaller differences. "same" if all of it is within a ratio of 1.02, else
/// "ambiguous". Empty if there is no interval.
std::string_view relation_of(const Speedup& speedup);

struct CompileInfo {
  double seconds = 0;
  bool cached = false;
  Interned way;                  ///< "nvrtc", "nvrtc + clang++ 14.0.6", "nvcc 13.0.88 + g++ 12.2.0"
  std::optional<double> host_s;  ///< the part of `seconds` for host code
  Interned fallback;             ///< why nvcc was used in place of the source splitter; else empty
};

/// The place of a line in the details file: a record's raw measurements and log, or a source.
struct DetailsRef {
  std::uint64_t offset = 0, length = 0;  ///< bytes in <run>.details.jsonl
};

/// The place of a record's line in the run file that it was read from.
struct RecordPlace {
  std::uint32_t file = 0;    ///< of RunFile::files
  std::uint32_t length = 0;  ///< bytes, without its end; 0: the record was read from no file
  std::uint64_t offset = 0;  ///< bytes
};

/// Parts of a record's line that read_runs() leaves in the file. They may make up half of the line,
/// and a report shows few of them. RunDetails reads them.
struct LeftInLine {
  bool findings = false;  ///< findings, other than the fault in the record's message
  bool profile = false;
};

/// Finding::kind of the fault that ended a launch; the record's message describes it too.
inline constexpr const char* kFaultFinding = "fault";

/// What the CPU executor's sanitizers saw at one instruction, and the first thread that did it.
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
/// True if both are the same kind of access at one place of the code, to one buffer.
inline bool same_place(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.kernel == b.kernel && a.file == b.file && a.line == b.line &&
         a.region == b.region;
}

/// Most findings in a record; its details hold all that were kept.
inline constexpr std::size_t kRecordFindings = 3;
/// Most findings that are kept of a candidate.
inline constexpr std::size_t kMaxFindings = 20;

/// Record::judge of kbench's own verdicts.
inline constexpr const char* kOwnJudge = "kbench";
/// Record::judge of kbench's own verdicts on models in eval mode (`--eval-mode`). Such a verdict
/// says nothing about models in training mode, so it has another judge.
inline constexpr const char* kEvalModeJudge = "kbench_eval_mode";
/// Record::judge of verdicts that KernelBench gave and `kbench import` read.
inline constexpr const char* kKernelBenchJudge = "kernelbench";
/// Record::judge of verdicts that kbench gave by KernelBench's rules (`--kb-compat`).
inline constexpr const char* kCompatJudge = "kb_compat";
/// True for verdicts by kbench's own rules, on models in either mode.
bool is_own_judge(const Interned& judge);

/// Record::kernel_class if the kernels that ran were not traced.
inline constexpr const char* kUnknownClass = "unknown";

/// Record::cause of a module that imports a package that is not installed.
inline constexpr const char* kMissingPackage = "missing_package";

/// All that a run file says of one candidate. Only `correct` carries timing and speedups. Texts
/// that recur in a run are interned, so that a hundred thousand records stay small.
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
  Interned sizes;  ///< constants that differ from the file's, as a JSON object in one line
  std::optional<ReducedSizes>
      reduced_sizes;  ///< set if `--reduce-sizes` found the problem above its limits
  std::string candidate_hash;
  /// The judge and the rules of the verdict. A verdict of one judge never replaces another's.
  Interned judge = kOwnJudge;
  Outcome outcome = Outcome::kHarnessFault;
  Stage stage = Stage::kManifest;
  Interned cause;                      ///< stable slug: "syntax_error", "out_of_bounds_write", …
  std::string message;                 ///< one sentence for people
  std::optional<Interned> correct_at;  ///< lower precision with errors as large; see RUN_FILE.md
  std::optional<CompileInfo> compile;
  std::vector<TrialResult> correctness;
  std::optional<Timing> timing;
  std::vector<Speedup> speedup;
  std::optional<SpeedOfLight> sol;  ///< set if correct and timed, and the least work is known
  std::int64_t launches = 0;        ///< kernel launches per call
  std::vector<std::string> flags;   ///< "nondeterministic_bits", "public_seed", …
  Interned kernel_class = "none";   ///< origin of the kernels: own, mixed, library, none, unknown
  Interned weights;                 ///< one of protocol::kWeightRules; empty: no weights given
  /// Names of the first few parameters and buffers of the reference that could not be copied into a
  /// module. If `weights` is "as_built": those whose values the module does not hold.
  std::vector<std::string> unplaced;
  double seconds = 0;  ///< time of all of kbench's work on this candidate, without queueing
  /// Time of its verdict, in seconds since 1970 (UTC); none in files of older versions.
  MaybeNumber ended_at = {};
  std::optional<DetailsRef> details;
  std::optional<DetailsRef> source;  ///< set if the candidate came by standard input
  RecordPlace place;                 ///< in the files that it was read from; not part of its line
  LeftInLine left;                   ///< also not part of its line
  /// The least t with which allclose(rtol = t, atol = t) holds in all trials; infinity if it never
  /// does; none if unknown. read_runs() computes it from all trials, of which it then keeps only
  /// one in `correctness`. Not part of the line.
  MaybeNumber allclose_at = {};
  /// Id of the candidate with equal code that this verdict was reused from; empty: judged itself.
  std::string reused_from;
  /// Names of the trivial answers that pass the whole check of its problem. Empty: all are caught.
  /// No value: not checked.
  std::optional<std::vector<std::string>> degenerate_problem;
  std::vector<Finding> findings;     ///< the first few
  std::uint64_t findings_count = 0;  ///< also those not kept here
  /// The result of one more call with all checks, after a failure on the CPU: "found" if there are
  /// findings, "nothing_found", or "unfinished" if the call failed too. Empty: no such call.
  Interned checked_again;
  std::vector<KernelProfile> profile;    ///< `--profile`: in the order of the launches
  std::optional<TimeEstimate> estimate;  ///< `--profile`: for the requested GPU
};

/// True if the traced calls ran no kernel and no operator that computes. Only kbench's own judge
/// traces calls.
bool computes_nothing(const Record& record);

/// The identity of a verdict, used by --resume: a digest of (model, problem, sample, precision,
/// device model, torch, hashes of problem, candidate, options and judge, and the judge's name).
std::string record_key(const Record& record);
/// True if both have the same key, without computing it.
bool same_key(const Record& a, const Record& b);

nlohmann::json to_json(const Finding& finding);

/// The record's line in a run file, described in RUN_FILE.md. Measured numbers have six significant
/// digits; numbers that are not finite are null. Timing and speedup are left out unless the outcome
/// is `correct`, even if the struct has them.
nlohmann::json to_json(const Record& record);
/// Throws kbench::Error that names the faulty field: missing, of the wrong type, or of an unknown
/// value. Also throws if an outcome other than `correct` carries times.
Record record_from_json(const nlohmann::json& json);

}  // namespace kbench

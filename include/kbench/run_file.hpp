// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"
#include "kbench/record.hpp"
#include "kbench/values.hpp"

namespace kbench {

/// Version of the run file's schema (RUN_FILE.md). Another major version is refused, a newer minor
/// one read.
inline constexpr int kSchemaMajor = 2;
inline constexpr int kSchemaMinor = 0;

/// The `run` line: the options of the run and its machine. RUN_FILE.md names the keys of `options`
/// and `environment`.
struct RunHeader {
  std::string run_id;
  std::string started;  ///< ISO 8601, UTC
  std::string kbench_version;
  std::vector<std::string> arguments;
  nlohmann::json options = nlohmann::json::object();      ///< precision, baselines, seed kind, …
  nlohmann::json environment = nlohmann::json::object();  ///< GPU name and UUID, driver, torch, …
  std::string problem_set_hash;
  LeftOut left_out;
  int schema_minor = kSchemaMinor;  ///< of the file that was read; written files have kSchemaMinor
};

/// One planned (problem, model, sample). Without a record it has no verdict yet: reports count such
/// entries, and no metric has them.
struct ManifestEntry {
  Interned problem;
  int level = 0;
  Interned model;
  int sample = 0;
  std::vector<std::string> tags;
};

/// The content of one run file (or of several shards of a run), read leniently.
struct RunFile {
  std::vector<std::filesystem::path> files;  ///< the files that were read
  std::vector<RunHeader> headers;
  std::vector<ManifestEntry> manifest;  ///< without duplicates
  /// The verdict of each key: the last one that is not a harness fault. Of `correctness` one trial
  /// is kept: the first with a wrong element, else the one with the largest error. Findings and
  /// profile are left in the file (Record::left); RunDetails has them all.
  std::vector<Record> records;
  std::optional<std::string> secret;  ///< of the `end` line; inputs were drawn from it
  bool ended = false;  ///< the last run line of every file is followed by its `end` line
  bool torn = false;   ///< the last line was cut off and skipped
  /// One sentence for each sample whose verdicts, or code, differ between two files at the same
  /// precision, device and judge. The later file's verdict counts.
  std::vector<std::string> conflicts;
  std::vector<std::string> bad_lines;  ///< "line 7: …" for each line that cannot be read
};

/// Reads a run file. Throws UsageError if it cannot be opened, has no run line, or has a newer
/// major version. Never writes.
RunFile read_run(const std::filesystem::path& path);
/// Reads several run files and merges them: shards of one run, or runs of several models. If files
/// hold the same key, the later one's verdict counts. Bad lines are named with their file.
RunFile read_runs(const std::vector<std::filesystem::path>& paths);

/// The keys (record_key) that a resumed run skips, those with a verdict, and the index of the
/// verdict in RunFile::records. Harness faults are tried again, and so is a candidate whose package
/// was missing, because the machine may have it by then.
std::unordered_map<std::string, std::size_t> resumable_keys(const RunFile& run);

/// The file with the raw measurements, logs and sources of the run file `path`: run.jsonl →
/// run.details.jsonl, in the same folder.
std::filesystem::path details_path(const std::filesystem::path& path);

/// Appends lines to a run file and its details file. Only the driver has one. Each line is one
/// write(2) on an O_APPEND descriptor. The file is locked against a second run. For one thread at a
/// time.
class RunWriter {
 public:
  /// Opens or creates `path` and `<stem>.details.jsonl`. Throws UsageError if the file exists and
  /// `resume` is false, if it is not a run file or not writable, or if another run holds its lock.
  RunWriter(const std::filesystem::path& path, bool resume);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void write(const RunHeader& header);
  /// Adds to the manifest; a long one is split over several lines.
  void write(const std::vector<ManifestEntry>& manifest);
  /// Writes the details (one JSON line: log, raw measurements; null for none), then the record that
  /// points at them. Returns the record's line as written, without its line end. On a full disk,
  /// throws kbench::Error that says what was kept. After a torn line, the next write starts on a
  /// new line, so a torn line never spoils a good one.
  std::string write(Record record, const nlohmann::json& details);
  /// Keeps the source of a candidate that is not a file, once for each `candidate_hash`. Records of
  /// that hash that are written later point at it.
  void keep_source(const std::string& candidate_hash, const std::string& source);
  /// Takes over the sources that `earlier`, the content of this file, has kept.
  void take_sources(const RunFile& earlier);
  /// The `end` line: the run finished. It publishes the secret, so that the inputs can be drawn
  /// again.
  void write_end(const std::string& secret, bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The samples of a run that a report covers (`--select`): conditions that all have to hold,
/// "level=1,2", "model=alpha*", "outcome!=correct".
///
/// Conditions on the plan (problem, level, model, sample, tag) remove everything else from the run,
/// so metrics cover the rest. Conditions on results (outcome, cause, class, kind, flag, trust)
/// choose the candidates that are listed. They do not change metrics: without its failures, every
/// run would be perfect.
class Selection {
 public:
  /// Receives the texts of a field; one of them has to match.
  using Take = std::function<void(std::string_view)>;
  /// One row per field of a condition: of the manifest's entries, or of records.
  struct Field {
    std::string_view name;
    void (*of_entry)(const ManifestEntry& entry, const Take& take);
    void (*of_record)(const Record& record, const Take& take);
    bool of_plan() const { return of_entry != nullptr; }
  };
  static std::span<const Field> fields();

  /// Adds FIELD=PATTERN[,PATTERN…] or FIELD!=PATTERN…; a pattern may have * and ?. Throws
  /// UsageError for an unknown field, an outcome that does not exist, or no pattern.
  void add(std::string_view argument);

  bool empty() const { return conditions_.empty(); }
  /// True if there are conditions on results.
  bool lists_some() const;
  /// Removes the manifest entries and records that do not meet the conditions on the plan.
  void apply(RunFile& run) const;
  /// The same, but throws UsageError if nothing is left. `name` names the run in the message.
  void choose_from(RunFile& run, std::string_view name) const;
  /// "; did you mean alpha?" for the first pattern that matches nothing in the run but is close to
  /// something in it.
  std::string likely(const RunFile& run) const;
  /// True if the conditions on results hold for the record.
  bool lists(const Record& record) const;
  /// "level=1 outcome!=correct": the conditions as they were given.
  std::string text() const;

 private:
  struct Condition {
    const Field* field = nullptr;
    bool negated = false;
    std::vector<std::string> patterns;
    std::string text;
  };
  static bool holds(const Condition& condition, const ManifestEntry& entry);
  static bool holds(const Condition& condition, const Record& record);
  std::vector<Condition> conditions_;
};

/// True if `pattern`, in which * stands for any text and ? for any character, matches the whole of
/// `text`.
bool matches_pattern(std::string_view pattern, std::string_view text);

// `kbench audit`: finds problems for which answers that compute nothing pass as right.

/// The result of one trivial answer to a problem under a check.
struct AuditAnswer {
  std::optional<bool> passes;  ///< none: the answer does not apply
  /// Why it does not apply. For an answer that passes: why kbench's whole check could not be run.
  std::string why;
  std::string caught_by;  ///< "trial 0", or an input distribution; empty if nothing caught it
  /// Its worst errors in the trials that were run, as in TrialResult; none: not comparable.
  std::optional<double> max_rel_error, allclose_at;
  /// For an answer that passes: the first inputs with which kbench's whole check catches it.
  /// `drawn`: the inputs that the problem draws, because of kbench's tolerance. Empty if none.
  std::string would_be_caught_by;
  /// For an answer that passes: the largest tolerance with one digit that would have caught it in
  /// the trials. None if the answer is exactly right.
  std::optional<double> tolerance;
};

/// The largest number with one significant digit below `error`. None for 0, which no tolerance
/// catches, and for numbers that are not finite, which every tolerance catches.
std::optional<double> tolerance_below(double error);

/// The check that decided if a problem is degenerate. The audit applies to records of the same
/// check.
struct AuditCheck {
  Interned judge = kOwnJudge;  ///< as Record::judge
  Interned precision = "native";
  int trials = 5;
  bool distributions = true;  ///< also checked with input distributions

  bool operator==(const AuditCheck&) const = default;
};

enum class AuditOutcome {
  kHealthy,         ///< every trivial answer is caught
  kDegenerate,      ///< one passes
  kProblemFailure,  ///< as Outcome::kProblemFailure
  kHarnessFault     ///< as Outcome::kHarnessFault
};
std::string_view to_string(AuditOutcome outcome);

/// The audit of one problem, as an audit file has it.
struct ProblemAudit {
  Interned problem;  ///< Problem::key
  int level = 0;
  Interned problem_hash, options_hash, judge_hash;
  Interned device, torch;                     ///< as in Record
  Interned sizes;                             ///< as Record::sizes
  std::optional<ReducedSizes> reduced_sizes;  ///< as Record::reduced_sizes
  AuditCheck check;
  AuditOutcome outcome = AuditOutcome::kHarnessFault;
  Interned cause;                              ///< of a failure: a stable slug
  std::string message;                         ///< of a failure: one sentence
  std::map<std::string, AuditAnswer> answers;  ///< by the names of the trivial answers
  std::map<std::string, std::string> distributions_left_out;  ///< name → why
  double seconds = 0;

  /// Names of the answers that pass.
  std::vector<std::string> passing() const;
};

/// The identity of an audit, used by `--resume`: a digest of problem, hashes, device and torch.
std::string audit_key(const ProblemAudit& audit);

nlohmann::json to_json(const AuditAnswer& answer);
/// Throws kbench::Error that names the faulty field.
AuditAnswer audit_answer_from_json(const nlohmann::json& json);
/// The line of an audit file, described in AUDIT_FILE.md.
nlohmann::json to_json(const ProblemAudit& audit);
/// Throws kbench::Error that names the field that is missing, of the wrong type, or of
/// unknown value.
ProblemAudit problem_audit_from_json(const nlohmann::json& json);

/// Version of the audit file's schema: another major version is refused.
inline constexpr int kAuditSchemaMajor = 2;
inline constexpr int kAuditSchemaMinor = 0;

/// The content of one or several audit files, read leniently.
struct AuditFile {
  std::vector<RunHeader> headers;
  std::vector<ProblemAudit> audits;    ///< the last of each key that is not a harness fault
  bool torn = false;                   ///< the last line was cut off and skipped
  std::vector<std::string> bad_lines;  ///< "line 7: …"
};

/// Reads audit files. Throws UsageError if one cannot be opened, is not an audit file, or has a
/// newer major version. Never writes.
AuditFile read_audits(const std::vector<std::filesystem::path>& paths);

/// Appends to an audit file, each line by a single write; for one thread at a time.
class AuditWriter {
 public:
  /// Opens or creates `path`. Throws UsageError if the file exists and `resume` is false, if it is
  /// not an audit file or not writable, or if another run holds its lock.
  AuditWriter(const std::filesystem::path& path, bool resume);
  ~AuditWriter();
  AuditWriter(const AuditWriter&) = delete;
  AuditWriter& operator=(const AuditWriter&) = delete;

  void write(const RunHeader& header);
  /// Throws kbench::Error on a full disk.
  void write(const ProblemAudit& audit);
  /// The `end` line, with the secret that inputs were drawn from.
  void write_end(const std::string& secret, bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

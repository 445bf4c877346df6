// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kbench/interned.hpp"
#include "kbench/record.hpp"
#include "kbench/run_log.hpp"
#include "kbench/shrink.hpp"

/// `kbench audit`: whether answers that compute nothing of a problem pass for right.
namespace kbench {

/// How one trivial answer to a problem fared before a check.
struct AuditAnswer {
  std::optional<bool> passes;  ///< none: the answer does not apply
  /// Why it does not; of one that passes, why kbench's whole check could not be asked.
  std::string why;
  std::string caught_by;  ///< "trial 0", or a family of inputs; empty where nothing caught it
  /// Its worst errors in the trials that it was asked in, as in TrialResult; none: not comparable.
  std::optional<double> max_rel_error, allclose_at;
  /// Of one that passes: which inputs of kbench's whole check catch it, `drawn` where its tolerance
  /// does on those that the problem draws; empty where none does.
  std::string would_be_caught_by;
  /// Of one that passes: the largest tolerance of one digit at which the check would have caught it
  /// in the trials; none where it is exactly right.
  std::optional<double> tolerance;
};

/// The largest number of one significant digit below `error`; none for 0, which no tolerance
/// catches, and for what is not finite, which every tolerance does.
std::optional<double> tolerance_below(double error);

/// By which check, so in whose records, a problem was found to be degenerate or not.
struct AuditCheck {
  Interned judge = kOwnJudge;  ///< as Record::judge
  Interned precision = "native";
  int trials = 5;
  bool families = true;  ///< asked with families of inputs as well

  bool operator==(const AuditCheck&) const = default;
};

enum class AuditOutcome {
  kHealthy,         ///< every trivial answer is caught
  kDegenerate,      ///< one passes
  kProblemFailure,  ///< as Outcome::kProblemFailure
  kHarnessFault     ///< as Outcome::kHarnessFault
};
std::string_view to_string(AuditOutcome outcome);

/// What is written of one problem.
struct ProblemAudit {
  Interned problem;  ///< Problem::key
  int level = 0;
  Interned problem_hash, options_hash, judge_hash;
  Interned device, torch;        ///< as in Record
  Interned sizes;                ///< as Record::sizes
  std::optional<Shrunk> shrunk;  ///< as Record::shrunk
  AuditCheck check;
  AuditOutcome outcome = AuditOutcome::kHarnessFault;
  Interned cause;                                        ///< of a failure: a stable slug
  std::string message;                                   ///< of a failure: one sentence
  std::map<std::string, AuditAnswer> answers;            ///< by the names of the trivial answers
  std::map<std::string, std::string> families_left_out;  ///< name → why
  double seconds = 0;

  /// Names of the answers that pass.
  std::vector<std::string> passing() const;
};

/// What `--resume` skips: a digest of problem, hashes, device and torch.
std::string audit_key(const ProblemAudit& audit);

nlohmann::json to_json(const AuditAnswer& answer);
/// Throws kbench::Error naming the faulty field.
AuditAnswer audit_answer_from_json(const nlohmann::json& json);
/// The line of an audit file, described in AUDIT_FILE.md.
nlohmann::json to_json(const ProblemAudit& audit);
/// Throws kbench::Error naming the field that is missing, of the wrong type or of no known value.
ProblemAudit problem_audit_from_json(const nlohmann::json& json);

/// Version of the audit file's schema: a newer major version is refused.
inline constexpr int kAuditSchemaMajor = 1;
inline constexpr int kAuditSchemaMinor = 0;

/// What stands in one or several audit files, read leniently.
struct AuditFile {
  std::vector<RunHeader> headers;
  std::vector<ProblemAudit> audits;    ///< the last of each key that is no fault of the harness
  bool torn = false;                   ///< the last line was cut off and skipped
  std::vector<std::string> bad_lines;  ///< "line 7: …"
};

/// Reads audit files. Throws UsageError where one cannot be opened, is no audit file, or is of a
/// newer major version. Never writes.
AuditFile read_audits(const std::vector<std::filesystem::path>& paths);

/// Appends to an audit file, each line by a single write; for one thread at a time.
class AuditWriter {
 public:
  /// Opens or creates `path`. Throws UsageError where it exists and `resume` is false, is no audit
  /// file, cannot be written, or another run holds its lock.
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

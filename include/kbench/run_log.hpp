// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "kbench/interned.hpp"
#include "kbench/record.hpp"

namespace kbench {

/// Version of the run file's schema (RUN_FILE.md): a newer major version is refused, a newer minor
/// one read.
inline constexpr int kSchemaMajor = 1;
inline constexpr int kSchemaMinor = 14;

/// The `run` line: what was asked for and on what machine. RUN_FILE.md names the keys of `options`
/// and `environment`.
struct RunHeader {
  std::string run_id;
  std::string started;  ///< ISO 8601, UTC
  std::string kbench_version;
  std::vector<std::string> arguments;
  nlohmann::json options = nlohmann::json::object();      ///< precision, baselines, seed kind, …
  nlohmann::json environment = nlohmann::json::object();  ///< GPU name and UUID, driver, torch, …
  std::string problem_set_hash;
  int schema_minor = kSchemaMinor;  ///< as read; what is written is of this version
};

/// One planned (problem, model, sample): the denominators come from these, not from the records.
struct RosterEntry {
  Interned problem;
  int level = 0;
  Interned model;
  int sample = 0;
  std::vector<std::string> tags;
};

/// What stands in one run file (or several shards of one run), read leniently.
struct RunFile {
  std::vector<std::filesystem::path> files;  ///< that were read
  std::vector<RunHeader> headers;
  std::vector<RosterEntry> roster;  ///< without duplicates
  /// The verdict of each key: the last that is no harness fault. Of `correctness` one trial is
  /// kept, the first with a wrong element, else the one with the largest error; findings and
  /// profile are left where they are (Record::left): RunDetails has them all.
  std::vector<Record> records;
  std::optional<std::string>
      secret;          ///< of the `end` line: the run ended, and how inputs were drawn
  bool ended = false;  ///< the last run line of every file is followed by its `end` line
  bool torn = false;   ///< the last line was cut off and skipped
  /// One sentence for each sample (at one precision, on one device, by one judge) of which two
  /// files have different verdicts, or verdicts on different code; the later file's counts.
  std::vector<std::string> conflicts;
  std::vector<std::string> bad_lines;  ///< "line 7: …" for each line that is no run file's line
};

/// Reads a run file. Throws UsageError where it cannot be opened, holds no run line, or is of a
/// newer major version. Never writes.
RunFile read_run(const std::filesystem::path& path);
/// Reads several and merges them: shards of one run, or runs of several models. Where files hold
/// the same key, the later one's verdict counts. Bad lines are named with their file.
RunFile read_runs(const std::vector<std::filesystem::path>& paths);

/// The keys (record_key) that a resumed run skips: those with a verdict that is no harness fault,
/// nor came of a package that the machine lacked and may have by now.
std::unordered_set<std::string> resumable_keys(const RunFile& run);

/// Where the raw measurements and logs of the run file `path` stand: run.jsonl →
/// run.details.jsonl, in the same folder.
std::filesystem::path details_path(const std::filesystem::path& path);

/// Appends lines to a run file and its details file; the driver alone holds one. Each line is one
/// write(2) on an O_APPEND descriptor; the file is locked against a second run. Not for several
/// threads at once.
class RunWriter {
 public:
  /// Opens or creates `path` and `<stem>.details.jsonl`. Throws UsageError where it exists and
  /// `resume` is false, it is no run file, cannot be written, or another run holds its lock.
  RunWriter(const std::filesystem::path& path, bool resume);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void write(const RunHeader& header);
  /// Adds to the roster; long ones are split over several lines.
  void write(const std::vector<RosterEntry>& roster);
  /// Details first (one JSON line: log, raw measurements; null for none), then the record that
  /// points at them; gives the record's line as written, without its end. Throws kbench::Error on
  /// a full disk, saying what was kept; a torn line is never left behind a good one: the next
  /// write starts on a line of its own.
  std::string write(Record record, const nlohmann::json& details);
  /// The `end` line: the run finished; tells the secret, so that anyone can draw the inputs again.
  void write_end(const std::string& secret, bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/record.hpp"

namespace kbench {

/// Version of the run file's schema: a newer major version is refused, a newer minor one read.
inline constexpr int kSchemaMajor = 1;
inline constexpr int kSchemaMinor = 0;

/// The `run` line: what was asked for and on what machine.
struct RunHeader {
  std::string run_id;
  std::string started;  ///< ISO 8601, UTC
  std::string kbench_version;
  std::vector<std::string> arguments;
  nlohmann::json options;      ///< precision, baselines, trials, timing, l2, seed kind, …
  nlohmann::json environment;  ///< GPU name and UUID, driver, CUDA, torch, CPU, cage, …
  std::string problem_set_hash;
};

/// One planned (problem, model, sample): the denominators come from these, not from the records.
struct RosterEntry {
  std::string problem;
  int level = 0;
  std::string model;
  int sample = 0;
  std::vector<std::string> tags;
};

/// What stands in one run file (or several shards of one run), read leniently.
struct RunFile {
  std::vector<RunHeader> headers;
  std::vector<RosterEntry> roster;  ///< without duplicates
  std::vector<Record> records;      ///< the verdict of each key: the last that is no harness fault
  std::optional<std::string>
      secret;         ///< of the `end` line: the run ended, and how inputs were drawn
  bool torn = false;  ///< the last line was cut off and skipped
  std::vector<std::string> bad_lines;  ///< "line 7: …" for each line that is no run file's line
};

/// Reads a run file. Throws UsageError where it cannot be opened, holds no run line, or is of a
/// newer major version. Never writes.
RunFile read_run(const std::filesystem::path& path);
/// Reads several and merges them: shards of one run, or runs of several models.
RunFile read_runs(const std::vector<std::filesystem::path>& paths);

/// Appends lines to a run file and its details file; the driver alone holds one. Each line is one
/// write(2) on an O_APPEND descriptor; the file is locked against a second run.
class RunWriter {
 public:
  /// Opens or creates `path` and `<stem>.details.jsonl`. Throws UsageError where it exists and
  /// `resume` is false and it is no run file, cannot be written, or another run holds its lock.
  RunWriter(const std::filesystem::path& path, bool resume);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void write(const RunHeader& header);
  void write(const std::vector<RosterEntry>& roster);
  /// Details first (one JSON line: log, raw measurements), then the record that points at them.
  /// Throws kbench::Error on a full disk, saying what was kept; a torn line is never left behind a
  /// good one: the next write starts on a line of its own.
  void write(Record record, const nlohmann::json& details);
  /// The `end` line: the run finished; tells the secret, so that anyone can draw the inputs again.
  void write_end(const std::string& secret, bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/run_file.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// Reads the parts of a record that read_runs() leaves out: its whole line (all trials, findings,
/// profile), and the log and raw measurements of its details. Does not refer to the RunFile that it
/// was made from. Thread-safe.
class RunDetails {
 public:
  explicit RunDetails(const RunFile& run);

  /// The record's line as JSON; null if it does not come from a file, or the file has changed.
  nlohmann::json line(const Record& record) const;

  /// The record with everything in its line. Returns `record` itself if it does not come from a
  /// file, or the file has changed.
  Record whole(const Record& record) const;

  /// Fields of its line, each as its JSON text; "null" if the line or the field does not exist.
  std::vector<std::string> fields(const Record& record,
                                  std::span<const std::string_view> names) const;

  /// Its details as JSON; null if there are none. If they should exist, `why_none` gets the reason:
  /// the file is gone or changed, or they are longer than `at_most` bytes.
  nlohmann::json details(const Record& record, std::string& why_none,
                         std::uint64_t at_most = UINT64_MAX) const;

  /// The source of a candidate that came by standard input (Record::source); empty for any other.
  /// If it should exist, `why_none` gets the reason.
  std::string source(const Record& record, std::string& why_none) const;

 private:
  std::vector<std::filesystem::path> files_;
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, Fd> open_;  // map nodes never move

  bool is_from_file(const Record& record) const;
  nlohmann::json object_at(const Record& record, const DetailsRef& place, std::string& why_none,
                           std::uint64_t at_most) const;
  std::string_view line_text(const Record& record) const;
  const Fd& opened(const std::filesystem::path& path) const;
};

}  // namespace kbench

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

/// Reads what a run's files hold of a record beyond read_runs(): its whole line (all trials,
/// findings, profile), and the log and raw measurements of its details. Does not refer to the
/// RunFile that it was made from. For any thread.
class RunDetails {
 public:
  explicit RunDetails(const RunFile& run);

  /// The record's line as JSON; null if it was read from no file, or the file has changed since.
  nlohmann::json line(const Record& record) const;

  /// The record with all that its line holds. Returns `record` itself if it was read from no file,
  /// or the file has changed since.
  Record whole(const Record& record) const;

  /// Fields of its line, each as its JSON text; "null" if the line or the field does not exist.
  std::vector<std::string> fields(const Record& record,
                                  std::span<const std::string_view> names) const;

  /// Its details as JSON; null if there are none. `why_none` gets the reason if there should be
  /// some: the file is gone or changed, or they are longer than `at_most` bytes.
  nlohmann::json details(const Record& record, std::string& why_none,
                         std::uint64_t at_most = UINT64_MAX) const;

 private:
  std::vector<std::filesystem::path> files_;
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, Fd> open_;  // map nodes never move

  std::string_view line_text(const Record& record) const;
  const Fd& opened(const std::filesystem::path& path) const;
};

}  // namespace kbench

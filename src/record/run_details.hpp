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

/// What the files of a run hold of one record beyond what read_runs() keeps: its whole line (all
/// trials, findings, profile), and the log and raw measurements of its details. Refers to nothing
/// of the RunFile that it was made from. For any thread.
class RunDetails {
 public:
  explicit RunDetails(const RunFile& run);

  /// The record's line as JSON; null where it was read from no file, or that has changed since.
  nlohmann::json line(const Record& record) const;

  /// The record as its line has it; as it is where it was read from no file, or that has changed
  /// since.
  Record whole(const Record& record) const;

  /// Fields of its line, each as the JSON text that stands there; "null" where there is none, or no
  /// line.
  std::vector<std::string> fields(const Record& record,
                                  std::span<const std::string_view> names) const;

  /// Its details as JSON; null where there are none, with the reason in `why_none` where there
  /// should be some: the file is gone, holds something else there, or they are longer than
  /// `at_most` bytes.
  nlohmann::json details(const Record& record, std::string& why_none,
                         std::uint64_t at_most = UINT64_MAX) const;

 private:
  std::vector<std::filesystem::path> files_;
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, Fd> open_;  // nodes stay where they are

  std::string_view line_text(const Record& record) const;
  const Fd& opened(const std::filesystem::path& path) const;
};

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kbench/run_log.hpp"
#include "kbench/subprocess.hpp"

namespace kbench {

/// What the files of a run hold of one record beyond what read_runs() keeps: its whole line (all
/// trials), and the log and raw measurements of its details. Refers to nothing of the RunFile that
/// it was made from. Not for several threads at once.
class RunDetails {
 public:
  explicit RunDetails(const RunFile& run);

  /// The record's line as JSON; null where it was read from no file, or that has changed since.
  nlohmann::json line(const Record& record) const;

  /// Its details as JSON; null where there are none, with the reason in `why_none` where there
  /// should be some: the file is gone, holds something else there, or they are longer than
  /// `at_most` bytes.
  nlohmann::json details(const Record& record, std::string& why_none,
                         std::uint64_t at_most = UINT64_MAX) const;

 private:
  std::vector<std::filesystem::path> files_;
  mutable std::map<std::filesystem::path, Fd> open_;
  const Fd& opened(const std::filesystem::path& path) const;
};

}  // namespace kbench

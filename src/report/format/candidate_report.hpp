// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"

namespace kbench {

/// What of a candidate is written (`kbench show`).
struct CandidateReportOptions {
  bool whole_source = false;  ///< else the lines around what was said of them
  bool whole_log = false;     ///< else its first 40 lines
  bool color = false;
  int width = 100;  ///< columns of the terminal
};

/// The records that "PROBLEM" or "PROBLEM/SAMPLE" names, indices into RunFile::records: PROBLEM may
/// be the last part of a problem's key, and have * and ?; empty, it is every problem. With `model`
/// those of that model alone; and of all of them those that the selection lists. Throws UsageError
/// where there is none, naming what there is.
std::vector<std::size_t> named_records(const RunFile& run, const std::string& name,
                                       const std::string& model, const Selection& selection = {});

/// Everything about one record, for people: its verdict and why, times, errors of each trial, what
/// its compiler said, and its source.
void write_candidate(const RunFile& run, const Record& record,
                     const CandidateReportOptions& options, std::ostream& out);

/// The same for programs: {"record": its line, "details": its details or null, "source": …}.
nlohmann::json candidate_json(const RunFile& run, const Record& record);

}  // namespace kbench

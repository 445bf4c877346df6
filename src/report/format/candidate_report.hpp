// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"

namespace kbench {

/// The parts of a candidate's report (`kbench show`).
struct CandidateReportOptions {
  bool whole_source = false;  ///< else only the lines around annotations
  bool whole_log = false;     ///< else only the first 40 lines
  bool color = false;
  int width = 100;  ///< columns of the terminal
};

/// Indices into RunFile::records of the records that `name` selects: "PROBLEM" or "PROBLEM/SAMPLE".
/// PROBLEM may be the last part of a problem's key, and have * and ?; empty: every problem.
/// `selection` restricts them further. If there are none, throws UsageError that lists the names in
/// the run.
std::vector<std::size_t> named_records(const RunFile& run, const std::string& name,
                                       const Selection& selection = {});

/// Everything about one record, for people: its verdict and cause, times, errors of each trial, the
/// compiler's log, and its source.
void write_candidate(const RunFile& run, const Record& record,
                     const CandidateReportOptions& options, std::ostream& out);

/// The same for programs: {"record": its line, "details": its details or null, "source": …}.
nlohmann::json candidate_json(const RunFile& run, const Record& record);

}  // namespace kbench

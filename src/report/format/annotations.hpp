// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"
#include "record/run_details.hpp"

/// A record's log, its source, and the annotations on lines of the source.
namespace kbench::report {

/// An annotation on one line of a candidate's source.
struct Annotation {
  int line = 0;               ///< from 1
  std::string_view severity;  ///< "error", "warning" or "note"
  std::string text;
  bool operator==(const Annotation&) const = default;
};

/// The annotations of a candidate by line: from its findings, and from messages of compilers
/// (NVRTC, nvcc, GCC, Clang) and Python about its file in `log`. If none is an error, also from its
/// own message ("line 7, column 3: …", "0.cu, line 7: …", "0.py:7: …"). After 50 annotations, the
/// log adds no more.
std::vector<Annotation> annotations_of(const Record& record, std::string_view log);
/// The line to show a failure at: that of its first error, else of its first finding; 0: unknown.
int failure_line(const Record& record, std::string_view log);
/// True if the finding has a line of the candidate's own file.
bool is_in_file(const Finding& finding, const Record& record);

/// In bytes. A report does not read longer details, because a run may have thousands of them.
inline constexpr std::uint64_t kLongestDetails = 16u << 20;

/// All logs in the details, one after the other; "" for null.
std::string log_of(const nlohmann::json& details);
/// The log's first `count` lines that are not empty, without control characters, cut to 200
/// columns.
std::vector<std::string> first_lines(std::string_view log, std::size_t count);

/// A candidate's source, as it was judged.
struct Source {
  std::string text;
  std::string why_none;  ///< one clause: why there is no source
};
/// Reads it from the details file if the candidate came by standard input, else from the file that
/// the record names, if that has not changed since it was judged.
Source source_of(const Record& record, const RunDetails& files);

}  // namespace kbench::report

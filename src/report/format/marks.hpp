// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"

/// What is beside a record: its log, its source, and which lines of that it is about.
namespace kbench::report {

/// Something that was said of one line of a candidate's source.
struct Mark {
  int line = 0;               ///< from 1
  std::string_view severity;  ///< "error", "warning" or "note"
  std::string text;
  bool operator==(const Mark&) const = default;
};

/// The marks of a candidate by line: of its findings, and of what compilers (NVRTC, nvcc, GCC,
/// Clang) and Python say of its file in `log`; where none of them is an error, that of its message
/// ("line 7, column 3: …"). At most 50.
std::vector<Mark> marks_of(const Record& record, std::string_view log);

/// Longer details are not read for a report: a run may have thousands of them. In bytes.
inline constexpr std::uint64_t kLongestDetails = 16u << 20;

/// All logs that the details hold, one after the other; "" for null.
std::string log_of(const nlohmann::json& details);
/// Its first `count` lines that are not empty, without control characters, each at most 200 bytes.
std::vector<std::string> first_lines(std::string_view log, std::size_t count);

/// A candidate's source as it was judged.
struct Source {
  std::string text;
  std::string why_none;  ///< where there is none: one clause
};
/// Reads the file that the record names, where it still holds what was judged.
Source source_of(const Record& record);

}  // namespace kbench::report

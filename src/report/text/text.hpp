// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/metrics.hpp"
#include "kbench/record.hpp"

namespace kbench::report {

/// Shown in place of a missing value.
inline constexpr std::string_view kNoValue = "–";

/// `text` on one line, without characters that control a terminal or change the text's direction.
/// Candidates choose their names and outputs. Bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// `text` escaped for markdown, so that it cannot start markup or a table cell.
std::string escaped(std::string_view text);
/// The width of `text` on a terminal, in columns.
std::size_t columns(std::string_view text);
/// `text` cut to `width` columns, with "…" for the missing end.
std::string fitted(std::string_view text, std::size_t width);
/// The same for a name, but with "…" for its middle.
std::string fitted_name(std::string_view text, std::size_t width);
/// The same for each of `names`, which must differ. If cut names would be equal, "…" replaces their
/// common start instead.
std::vector<std::string> fitted_names(const std::vector<std::string>& names, std::size_t width);
/// `text` filled up with spaces to `width` columns, at its left if `right_aligned`.
std::string padded(std::string_view text, std::size_t width, bool right_aligned = false);
/// `text` broken into lines of at most `width` columns, at spaces, else after a "/".
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `text` with "…" in place of the folders of paths: "…/softmax.cu(12): error: …".
std::string with_short_paths(std::string_view text);

/// "10.2 µs", "1.25 ms", "2.31 s": three digits.
std::string duration(double ms);
/// "1.90x", or "–".
std::string factor(const std::optional<double>& value);
/// A metric's value: "0.83", a ratio "1.90x", or "–".
std::string value_text(const Metric& metric, const Estimate& estimate);
/// A metric's interval: "0.67–0.96"; empty if there is none.
std::string interval_text(const Estimate& estimate);
/// "1 problem", "2 problems".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The record's median time of a subject ("candidate" or a baseline); none if it was not timed. The
/// mean instead, if the record has no median or the timing method compares means.
std::optional<double> time_ms(const Record& record, std::string_view side);
/// The median time that a caller waits for one call of a subject (SideTiming::wall_ms); none if it
/// is not known.
std::optional<double> caller_ms(const Record& record, std::string_view side);
/// The caller's time of a baseline divided by the candidate's; none if either is not known.
std::optional<double> caller_speedup(const Record& record, std::string_view baseline);
/// The record's finite speedup over a baseline, or null. kBestBaseline: its least speedup, over the
/// fastest baseline.
const Speedup* speedup_over(const Record& record, std::string_view baseline);
/// "K=512 N=1024": the constants that differ from the problem file's.
std::string sizes_text(const Record& record);
/// The outcome, and its cause if there is one: "mismatch, wrong_values".
std::string outcome_text(Outcome outcome, const Interned& cause = {});
/// The message, and after it the first wrong element if there is one.
std::string failure_text(const Record& record);
/// "output 0 [3, 17]: expected 0.5, got 0.25".
std::string wrong_element_text(const WrongElement& wrong);

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/metrics.hpp"
#include "kbench/record.hpp"

namespace kbench::report {

/// Stands where there is no value.
inline constexpr std::string_view kNoValue = "–";

/// `text` on one line and without what steers a terminal or turns the direction of text: candidates
/// print and are named what they like. Bytes that are no UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// `text` as it stays what it is on a page of markdown: no markup, no table cell of its own.
std::string escaped(std::string_view text);
/// Columns that `text` takes on a terminal.
std::size_t columns(std::string_view text);
/// `text` cut to `width` columns, with "…" where something is missing.
std::string fitted(std::string_view text, std::size_t width);
/// The same for a name: what is missing is of its middle.
std::string fitted_name(std::string_view text, std::size_t width);
/// The same for each of `names`, which differ; of those that would look alike, what they all begin
/// with is missing.
std::vector<std::string> fitted_names(const std::vector<std::string>& names, std::size_t width);
/// `text` filled with spaces to `width` columns, at its right or (for numbers) its left.
std::string padded(std::string_view text, std::size_t width, bool right_aligned = false);
/// `text` broken at spaces, else behind a "/", into lines of at most `width` columns.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `text` with "…" for the folders of paths: "…/softmax.cu(12): error: …".
std::string with_short_paths(std::string_view text);

/// "10.2 µs", "1.25 ms", "2.31 s": three digits.
std::string duration(double ms);
/// "1.90x", or "–".
std::string factor(const std::optional<double>& value);
/// A metric's value: "0.83", a ratio "1.90x", or "–".
std::string value_text(const Metric& metric, const Estimate& estimate);
/// A metric's interval: "0.67–0.96", or nothing.
std::string interval_text(const Estimate& estimate);
/// "1 problem", "2 problems".
std::string counted(std::int64_t count, std::string_view noun);

/// The record's median of that side, where it was timed; the mean where no median was taken down,
/// or the speedup is one of means.
std::optional<double> time_ms(const Record& record, std::string_view side);
/// What the candidate's process said of it, where the time is a bound: a median, not believed.
std::optional<double> told_ms(const Record& record);
/// The record's speedup over that baseline, where it has a finite one.
const Speedup* speedup_over(const Record& record, std::string_view baseline);
/// "K=512 N=1024": the constants that were not the problem file's.
std::string sizes_text(const Record& record);
/// The message, and after it the first wrong element, where there is one.
std::string failure_text(const Record& record);
/// "output 0 [3, 17]: expected 0.5, got 0.25".
std::string wrong_element_text(const WrongElement& wrong);

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"

/// The page's data as JSON. It contains no "<", so no text in it can end its HTML element.
namespace kbench::report {

/// The same JSON value without "<" in the text.
std::string without_markup(std::string json);

/// All data except the details; `notes` says what the details leave out.
std::string page_data(const Report& report, const std::vector<std::string>& notes);

/// The details of the candidates, which the page shows when a candidate is opened.
struct PageDetails {
  std::string lines;  ///< a line of JSON for each of Report::candidates; empty: no details
  std::vector<std::string> notes;
};
/// Limit of the page's details, because a browser opens some ten megabytes without delay. The run's
/// files have everything.
inline constexpr std::size_t kMostDetailBytes = 32u << 20;
/// Full details of as many candidates as fit into `most_bytes`, failures first. The remaining
/// failures have only their message.
PageDetails page_details(const Report& report, std::size_t most_bytes = kMostDetailBytes);

}  // namespace kbench::report

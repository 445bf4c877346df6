// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"

/// What the page shows, as the JSON that it reads. None of it holds a "<", so nothing in it can end
/// the element that it stands in.
namespace kbench::report {

/// JSON text without "<".
std::string without_markup(std::string json);

/// Everything but the details; `notes` says what those lack.
std::string page_data(const Report& report, const std::vector<std::string>& notes);

/// What is to be told of each candidate when it is opened.
struct PageDetails {
  std::string lines;  ///< one for each of Report::candidates; empty ones say nothing
  std::vector<std::string> notes;
};
/// A page of some ten megabytes opens at once; what is not in it is in the run's files.
inline constexpr std::size_t kMostDetailBytes = 32u << 20;
/// Everything of as many candidates as fit into `most_bytes`, failures first; of each other failure
/// its message.
PageDetails page_details(const Report& report, std::size_t most_bytes = kMostDetailBytes);

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// The parts of the page that are the same for all reports; the build embeds src/report/html/page.
namespace kbench::report {

/// The page's skeleton. A line with a placeholder stands for each other part: "@STYLE@", "@D3@", ….
std::string_view page_html();
std::string_view page_style();
std::string_view page_script();
/// The meanings of outcomes, flags and metrics, from the tables of the documents.
std::string_view page_terms();
/// The library D3, which draws the charts; empty if the build did not find it.
std::string_view page_d3();

}  // namespace kbench::report

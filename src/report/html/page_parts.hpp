// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// The parts of the page that are the same for all reports, from src/report/html/page.
namespace kbench::report {

/// Its skeleton, with a line for each of the others: "@STYLE@", "@D3@", ….
std::string_view page_html();
std::string_view page_style();
std::string_view page_script();
/// D3, which draws the charts; empty where the build found none.
std::string_view page_d3();

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#include <ostream>
#include <string_view>

#include "base/text.hpp"
#include "report/format/formats.hpp"
#include "report/html/html_data.hpp"
#include "report/html/page_parts.hpp"
#include "report/model/tables.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {
namespace {

std::string without_tags(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

}  // namespace

void write_html(const Report& report, std::ostream& out) {
  const PageDetails details = page_details(report);
  for (std::string_view page = page_html(); !page.empty();) {
    const std::string_view line = next_line(page);
    if (line == "@TITLE@") {
      out << without_tags("kbench: " + status_text(report));
    } else if (line == "@STYLE@") {
      out << page_style();
    } else if (line == "@D3@") {
      out << page_d3();
    } else if (line == "@TERMS@") {
      out << page_terms();
    } else if (line == "@SCRIPT@") {
      out << page_script();
    } else if (line == "@DATA@") {
      out << json_without_commands(page_data(report, details.notes)) << "\n";
    } else if (line == "@DETAILS@") {
      out << json_without_commands(details.lines);
    } else {
      out << line << '\n';
    }
  }
}

}  // namespace kbench::report

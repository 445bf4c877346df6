// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json/dumped.hpp"
#include "report/format/code_findings.hpp"
#include "report/format/formats.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {

void write_codequality(const Report& report, std::ostream& out) {
  nlohmann::json issues = nlohmann::json::array();
  for (const CodeFinding& finding : code_findings(report))
    issues.push_back(
        {{"description", finding.message},
         {"check_name", finding.rule},
         {"fingerprint", finding.fingerprint},
         {"severity", finding.failure ? "critical" : "minor"},
         {"location", {{"path", finding.file}, {"lines", {{"begin", finding.line}}}}}});
  out << json_without_commands(dumped(issues, 1)) << '\n';
}

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "base/json/dumped.hpp"
#include "report/format/code_findings.hpp"
#include "report/format/formats.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

/// A path as a URI reference (RFC 3986).
std::string uri(std::string_view path) {
  std::string text = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != path.npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

/// GitHub asks for three texts of each rule.
json sarif_rule(const std::string& id) {
  const json text{{"text", id}};
  return {{"id", id},
          {"shortDescription", text},
          {"fullDescription", text},
          {"help", {{"text", "src/worker/judge/CORRECTNESS.md of kbench explains " + id}}}};
}

json sarif_result(const CodeFinding& finding) {
  const json place{{"artifactLocation", {{"uri", uri(finding.file)}}},
                   {"region", {{"startLine", finding.line}}}};
  return {{"ruleId", finding.rule},
          {"level", finding.failure ? "error" : "warning"},
          {"message", {{"text", finding.message}}},
          {"partialFingerprints", {{"kbench/v1", finding.fingerprint}}},
          {"locations", json::array({{{"physicalLocation", place}}})}};
}

}  // namespace

void write_sarif(const Report& report, std::ostream& out) {
  json driver{{"name", "kbench"}, {"rules", json::array()}};
  if (!report.run.headers.empty()) driver["version"] = report.run.headers.front().kbench_version;
  json results = json::array();
  std::set<std::string> rules;
  for (const CodeFinding& finding : code_findings(report)) {
    if (rules.insert(finding.rule).second) driver["rules"].push_back(sarif_rule(finding.rule));
    results.push_back(sarif_result(finding));
  }
  const json run{{"tool", {{"driver", driver}}}, {"results", results}};
  const json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({run})}};
  out << json_without_commands(dumped(log, 1)) << '\n';
}

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#include "report/format/annotations.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "kbench/candidate.hpp"
#include "kbench/error.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostAnnotations = 50;
constexpr std::size_t kLongestLine = 200;
constexpr std::string_view kError = "error", kWarning = "warning", kNote = "note";

/// Removes a positive number from the start of `text`; 0 if there is none.
int take_line(std::string_view& text) {
  int line = 0;
  std::string_view rest = text;
  if (!take_number(rest, line) || line < 1) return 0;
  text = rest;
  return line;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// Removes "error: ", "warning #177-D: " and the like; empty if there is none.
std::string_view take_severity(std::string_view& text) {
  while (take(text, " ") || take(text, "fatal ") || take(text, "catastrophic ")) {
  }
  for (const std::string_view severity : {kError, kWarning, kNote}) {
    std::string_view rest = text;
    if (!take(rest, severity)) continue;
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) return {};
    text = rest.substr(colon + 2);
    return severity;
  }
  return {};
}

/// Parses the text after the file's name in a compiler's line: "(29): error: …" or ":29:7: error:
/// …".
std::optional<Annotation> compiler_annotation(std::string_view rest) {
  Annotation annotation;
  if (take(rest, "(")) {
    annotation.line = take_line(rest);
    if (!take(rest, "): ")) return std::nullopt;
  } else if (take(rest, ":")) {
    annotation.line = take_line(rest);
    if (take(rest, ":")) {
      std::string_view after = rest;
      if (take_line(after) > 0 && take(after, ": ")) rest = after;
    }
  }
  if (annotation.line == 0) return std::nullopt;
  annotation.severity = take_severity(rest);
  if (annotation.severity.empty()) return std::nullopt;
  annotation.text = printable(rest);
  return annotation;
}

/// Parses the text after the file's name in a Python traceback: `", line 29, in forward`.
std::optional<Annotation> python_annotation(std::string_view rest) {
  Annotation annotation{.line = 0, .severity = kError, .text = {}};
  if (!take(rest, "\", line ")) return std::nullopt;
  annotation.line = take_line(rest);
  if (annotation.line == 0) return std::nullopt;
  take(rest, ", ");
  annotation.text = printable(rest.empty() ? "raised here" : rest);
  return annotation;
}

void add_of_log(std::string_view log, std::string_view file, std::vector<Annotation>& annotations) {
  if (file.empty()) return;
  std::size_t of_python = annotations.size();
  bool any_python = false;
  while (!log.empty() && annotations.size() < kMostAnnotations) {
    const std::string_view line = next_line(log);
    const std::size_t at = line.find(file);
    const bool is_named = at != std::string_view::npos &&
                          (at == 0 || std::string_view("/ \"").find(line[at - 1]) != line.npos);
    if (!is_named) {
      // A traceback ends with the exception, which belongs to the last line that it names.
      if (any_python && !line.empty() && line.front() != ' ' && line.find(": ") != line.npos) {
        annotations[of_python].text = printable(line);
        any_python = false;
      }
      continue;
    }
    const std::string_view rest = line.substr(at + file.size());
    std::optional<Annotation> annotation = compiler_annotation(rest);
    if (!annotation && (annotation = python_annotation(rest))) {
      of_python = annotations.size();
      any_python = true;
    }
    if (annotation) annotations.push_back(std::move(*annotation));
  }
}

/// Parses "line 7, column 3: …", and after the name of the candidate's file ", line 7: …", ":7: …"
/// or ":7:3: …".
void add_of_message(std::string_view message, std::string_view file,
                    std::vector<Annotation>& annotations) {
  const bool is_named = !file.empty() && take(message, file);
  if (!take(message, is_named ? ", line " : "line ") && !(is_named && take(message, ":"))) return;
  Annotation annotation{.line = take_line(message), .severity = kError, .text = {}};
  if (take(message, ", column ") || (is_named && !message.starts_with(": ") && take(message, ":")))
    take_line(message);
  if (annotation.line == 0 || !take(message, ": ")) return;
  annotation.text = printable(message);
  annotations.push_back(std::move(annotation));
}

}  // namespace

std::vector<Annotation> annotations_of(const Record& record, std::string_view log) {
  std::vector<Annotation> annotations;
  for (const Finding& finding : record.findings) {
    if (!is_in_file(finding, record)) continue;
    annotations.push_back({.line = finding.line,
                           .severity = is_fault(finding) ? kError : kWarning,
                           .text = printable(finding.message)});
  }
  // Compilers print the whole path or only the file's name.
  const std::string file = std::filesystem::path(record.candidate).filename().string();
  add_of_log(log, file, annotations);
  if (std::ranges::find(annotations, kError, &Annotation::severity) == annotations.end())
    add_of_message(record.message, file, annotations);
  std::ranges::stable_sort(annotations, {}, &Annotation::line);
  const auto same = std::ranges::unique(annotations);
  annotations.erase(same.begin(), same.end());
  return annotations;
}

int failure_line(const Record& record, std::string_view log) {
  const std::vector<Annotation> annotations = annotations_of(record, log);
  const auto error = std::ranges::find(annotations, kError, &Annotation::severity);
  if (error != annotations.end()) return error->line;
  const auto finding = std::ranges::find_if(
      record.findings, [&](const Finding& one) { return is_in_file(one, record); });
  return finding == record.findings.end() ? 0 : finding->line;
}

bool is_in_file(const Finding& finding, const Record& record) {
  return finding.line > 0 && finding.file.str() == record.candidate;
}

std::string log_of(const nlohmann::json& details) {
  std::string all;
  if (!details.is_object()) return all;
  for (const char* key : {"compiler_log", "problem_log", "log"}) {
    const auto found = details.find(key);
    if (found == details.end() || !found->is_string()) continue;
    const auto& text = found->get_ref<const std::string&>();
    if (!all.empty() && !all.ends_with('\n')) all += '\n';
    all += text;
  }
  return all;
}

std::vector<std::string> first_lines(std::string_view log, std::size_t count) {
  std::vector<std::string> lines;
  while (!log.empty() && lines.size() < count) {
    const std::string line = printable(next_line(log).substr(0, kLongestLine * 4));
    if (line.find_first_not_of(' ') != std::string::npos)
      lines.push_back(fitted(line, kLongestLine));
  }
  return lines;
}

Source source_of(const Record& record, const RunDetails& files) {
  std::error_code error;
  if (!record.source && !std::filesystem::is_regular_file(record.candidate, error))
    return {.text = {}, .why_none = "there is no such file here"};
  try {
    Source source;
    Candidate candidate;
    if (record.source)
      candidate.source = files.source(record, source.why_none);
    else
      candidate = read_candidate(record.candidate);
    // A run file may name any file, so a source is shown only if it is the judged one.
    if (source.why_none.empty() && candidate_hash(candidate) != record.candidate_hash)
      source.why_none = "the file has changed since";
    if (source.why_none.empty()) source.text = std::move(candidate.source);
    return source;
  } catch (const std::exception& fault) {
    return {.text = {}, .why_none = fault.what()};
  }
}

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#include "cli/check_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::cli {
namespace {

using nlohmann::json;
using report::counted;
using report::printable;

void line(std::string& text, const std::string& words) { text += "  " + printable(words) + "\n"; }

/// "module for level1/19_ReLU", and the lines of its code within an answer.
std::string what_it_is(const CheckedFile& file) {
  const Candidate& candidate = file.candidate;
  if (!candidate.reject_cause.empty()) {
    return candidate.problem.empty() ? "no code" : "no code for " + candidate.problem;
  }
  std::string words(to_string(candidate.kind));
  if (!candidate.problem.empty()) words += " for " + candidate.problem;
  if (!candidate.block) return words;
  words += fmt::format(", lines {} to {}", candidate.block->first_line, candidate.block->last_line);
  if (!candidate.block->fenced) return words + " (no fences)";
  return words +
         fmt::format(" (fenced as {}, {})",
                     candidate.block->language.empty() ? "nothing" : candidate.block->language,
                     counted(candidate.blocks, "block"));
}

std::string what_worked(const CheckedFile& file) {
  const CheckedCandidate& checked = file.checked;
  std::vector<std::string> words;
  if (file.candidate.kind == CandidateKind::kKernel && !file.candidate.problem.empty())
    words.push_back(fmt::format("plan binds: {}, {}", counted(checked.tensors, "tensor"),
                                counted(checked.launches, "launch")));
  if (checked.builds > 1) words.push_back(fmt::format("{} extensions", checked.builds));
  if (checked.record.compile)
    words.push_back(fmt::format("compiles ({}, {:.2f} s{})", checked.record.compile->way.str(),
                                checked.record.compile->seconds,
                                checked.record.compile->cached ? ", cached" : ""));
  if (file.candidate.kind != CandidateKind::kKernel) words.emplace_back("loads");
  return fmt::format("{}", fmt::join(words, "; "));
}

/// The sizes that differ from those of the problem's file; "" if none do.
std::string sizes_line(const Record& record) {
  const std::string sizes = report::sizes_text(record);
  if (sizes.empty()) return "";
  const bool reduced = record.reduced_sizes && record.reduced_sizes->reduced();
  return fmt::format("checked at {}{}", sizes,
                     reduced ? ": reduced sizes (--full-sizes checks at those of the file)"
                             : ", which are not the sizes of the file");
}

void add_sizes(json& object, const Record& record) {
  if (!record.sizes.empty()) object["sizes"] = json::parse(record.sizes.str());
  if (record.reduced_sizes) object["reduced_sizes"] = to_json(*record.reduced_sizes);
}

std::string problem_text(const CheckedFile::ProblemFile& problem) {
  std::string text;
  line(text, "problem " + problem.key);
  line(text, problem.failure.empty()
                 ? fmt::format("inputs {}; outputs {}", problem.inputs, problem.outputs)
                 : "problem_failure: " + problem.failure);
  if (const std::string sizes = sizes_line(problem.record); !sizes.empty()) line(text, sizes);
  return text;
}

std::string candidate_text(const CheckedFile& file) {
  const CheckedCandidate& checked = file.checked;
  const Record& record = checked.record;
  std::string text;
  line(text, what_it_is(file));
  if (!file.unplaced.empty()) line(text, file.unplaced);
  line(text, checked.fine ? what_worked(file)
                          : fmt::format("{}, {}: {}", to_string(record.outcome), record.cause.str(),
                                        record.message));
  if (const std::string sizes = sizes_line(record); !sizes.empty()) line(text, sizes);
  if (!checked.ignored_flags.empty())
    line(text,
         fmt::format("flags that have no effect here: {}", fmt::join(checked.ignored_flags, " ")));
  return text;
}

json problem_json(const CheckedFile& file) {
  const auto& problem = *file.problem;
  json object{{"file", file.path}, {"kind", "problem"}, {"problem", problem.key}};
  if (problem.failure.empty()) {
    object["inputs"] = problem.inputs;
    object["outputs"] = problem.outputs;
  } else {
    object["outcome"] = to_string(Outcome::kProblemFailure);
    object["message"] = problem.failure;
  }
  add_sizes(object, problem.record);
  return object;
}

json candidate_json(const CheckedFile& file) {
  const Candidate& candidate = file.candidate;
  const CheckedCandidate& checked = file.checked;
  json object{{"file", file.path},
              {"kind", to_string(candidate.kind)},
              {"problem", candidate.problem.empty() ? json() : json(candidate.problem)},
              {"block", json()},
              {"ignored_flags", checked.ignored_flags}};
  if (!candidate.reject_cause.empty()) object["kind"] = json();
  if (candidate.block)
    object["block"] = {{"first_line", candidate.block->first_line},
                       {"last_line", candidate.block->last_line},
                       {"language", candidate.block->language},
                       {"fenced", candidate.block->fenced},
                       {"blocks", candidate.blocks}};
  if (candidate.kind == CandidateKind::kKernel && !candidate.problem.empty() && checked.fine)
    object["plan"] = {{"tensors", checked.tensors}, {"launches", checked.launches}};
  if (checked.record.compile)
    object["compile"] = {{"seconds", checked.record.compile->seconds},
                         {"cached", checked.record.compile->cached},
                         {"way", checked.record.compile->way.str()}};
  if (!file.unplaced.empty()) object["unplaced"] = file.unplaced;
  add_sizes(object, checked.record);
  if (checked.fine) return object;
  object["outcome"] = to_string(checked.record.outcome);
  object["stage"] = to_string(checked.record.stage);
  object["cause"] = checked.record.cause.str();
  object["message"] = checked.record.message;
  object["log"] = checked.log;
  return object;
}

std::size_t failed(std::span<const CheckedFile> files) {
  return static_cast<std::size_t>(std::ranges::count_if(
      files, [](const CheckedFile& file) { return !file.would_be_scored(); }));
}

}  // namespace

bool CheckedFile::would_be_scored() const {
  return problem ? problem->failure.empty() : checked.fine && unplaced.empty();
}

std::string check_text(std::span<const CheckedFile> files) {
  std::string text;
  for (const CheckedFile& file : files) {
    text += fmt::format("{}: {}\n", printable(file.path),
                        file.would_be_scored() ? "fine" : "would not be scored");
    text += file.problem ? problem_text(*file.problem) : candidate_text(file);
  }
  const std::size_t bad = failed(files);
  text += counted(files.size(), "file");
  text += bad == 0 ? ", all fine\n" : fmt::format(", {} would not be scored\n", bad);
  return report::without_commands(text);
}

json check_json(std::span<const CheckedFile> files) {
  json array = json::array();
  for (const CheckedFile& file : files) {
    array.push_back(file.problem ? problem_json(file) : candidate_json(file));
    array.back()["would_be_scored"] = file.would_be_scored();
  }
  return {{"files", std::move(array)}, {"failed", failed(files)}};
}

}  // namespace kbench::cli

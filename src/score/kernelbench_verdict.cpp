// SPDX-License-Identifier: MIT
#include "score/kernelbench_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"
#include "score/kernelbench_timing.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessageBytes = 300;
constexpr std::size_t kMaxTrials = 1000;

/// A word (lower case) in an error's text or name, and the outcome and cause that it indicates.
struct ErrorRow {
  std::string_view word;
  Outcome outcome;
  std::string_view cause;
};

/// Errors of running code; the first word that occurs decides.
constexpr ErrorRow kRunRows[] = {
    {"out of memory", Outcome::kOutOfMemory, "allocation_failed"},
    {"outofmemory", Outcome::kOutOfMemory, "allocation_failed"},
    {"illegal memory access", Outcome::kCrash, "illegal_address"},
    {"misaligned address", Outcome::kCrash, "misaligned_address"},
    {"device-side assert", Outcome::kCrash, "trap"},
    {"illegal instruction", Outcome::kCrash, "trap"},
    {"invalid configuration argument", Outcome::kCrash, "invalid_launch"},
    {"too many resources requested", Outcome::kCrash, "invalid_launch"},
    {"no kernel image", Outcome::kLoadFailure, "module_load"},
    {"cuda error", Outcome::kCrash, "cuda_error"},
    {"cudaerror", Outcome::kCrash, "cuda_error"},
    {"timed out", Outcome::kTimeout, "execution_limit"},
    {"", Outcome::kCrash, "candidate_raised"},
};

/// Errors of compiling and of loading: KernelBench compiles a candidate by importing it.
constexpr ErrorRow kCompileRows[] = {
    {"error building extension", Outcome::kCompileFailure, "build_failed"},
    {"no module named", Outcome::kLoadFailure, "missing_package"},
    {"modulenotfound", Outcome::kLoadFailure, "missing_package"},
    {"syntax", Outcome::kCompileFailure, "syntax_error"},
    {"indentationerror", Outcome::kCompileFailure, "syntax_error"},
    {"out of memory", Outcome::kOutOfMemory, "allocation_failed"},
    {"", Outcome::kCompileFailure, "import_failed"},
};

constexpr ErrorRow kCheckRows[] = {
    {"shape", Outcome::kWrongShape, "shape"},
    {"", Outcome::kMismatch, "wrong_values"},
};

/// Messages of KernelBench's scripts on an evaluation without any result.
constexpr ErrorRow kScriptRows[] = {
    {"timed out", Outcome::kTimeout, "execution_limit"},
    {"kernel not found", Outcome::kMissing, "no_code"},
    {"gpu not attached", Outcome::kHarnessFault, "no_gpu"},
    {"cuda is not available", Outcome::kHarnessFault, "no_gpu"},
    {"future was none", Outcome::kHarnessFault, "no_result"},
    {"out of memory", Outcome::kOutOfMemory, "allocation_failed"},
    {"", Outcome::kCrash, "process_died"},
};

/// One row per key of `metadata` under which KernelBench explains a failure, the most specific
/// first. `text`: the key of the sentence; `name`: the key of the exception's type.
struct MetadataRow {
  const char *text, *name;
  std::span<const ErrorRow> errors;
};
constexpr MetadataRow kMetadata[] = {
    {"compilation_error", "compilation_error_name", kCompileRows},
    {"cuda_error", "cuda_error_name", kRunRows},
    {"error_message", "gpu_error", kRunRows},
    {"runtime_error", "runtime_error_name", kRunRows},
    {"correctness_issue", "correctness_issue_name", kCheckRows},
    {"other_error", "other_error_name", kRunRows},
    {"error", "error_name", kScriptRows},
};

const ErrorRow& matching(std::span<const ErrorRow> rows, const std::string& text) {
  const std::string small = lowercase(text);
  return *std::ranges::find_if(
      rows, [&](const ErrorRow& row) { return small.find(row.word) != std::string::npos; });
}

Stage stage_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCorrect:
      return Stage::kDone;
    case Outcome::kCompileFailure:
      return Stage::kCompile;
    case Outcome::kLoadFailure:
      return Stage::kLoad;
    case Outcome::kMissing:
    case Outcome::kRejected:
    case Outcome::kProblemFailure:
      return Stage::kManifest;
    default:
      return Stage::kCorrectness;
  }
}

/// The most useful line, cut for a record: the first with "error:", else the first.
std::string sentence_of(std::string_view text) {
  std::string_view first, telling;
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (first.empty()) first = line;
    if (telling.empty() && line.find("error:") != std::string_view::npos) telling = line;
  }
  std::string_view said = telling.empty() ? first : telling;
  if (said.size() <= kMaxMessageBytes) return std::string(said);
  std::size_t end = kMaxMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(said[end]) & 0xc0u) == 0x80u) --end;
  return std::string(said.substr(0, end)) + "…";
}

/// KernelBench writes a difference as text with "%.6f"; older versions wrote a number.
std::optional<double> difference(const json& value) {
  double number = 0;
  if (const auto* text = value.get_ptr<const std::string*>()) {
    char* end = nullptr;
    number = std::strtod(text->c_str(), &end);
    if (end == text->c_str()) return std::nullopt;
  } else if (value.is_number()) {
    number = value.get<double>();
  } else {
    return std::nullopt;
  }
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

/// One result for each difference that KernelBench reports: for the failed trials, in order.
std::vector<TrialResult> failed_trials(const json& metadata) {
  const auto found = metadata.find("max_difference");
  if (found == metadata.end()) return {};
  const json differences = found->is_array() ? *found : json::array({*found});
  std::vector<TrialResult> trials;
  for (const json& value : differences) {
    if (trials.size() == kMaxTrials) break;
    TrialResult trial;
    trial.trial = static_cast<int>(trials.size());
    trial.max_abs_error = difference(value);
    trials.push_back(std::move(trial));
  }
  return trials;
}

bool is_set(const json& metadata, const char* field) {
  const auto found = metadata.find(field);
  return found != metadata.end() && *found != false && !found->is_null();
}

/// `text` as a cause, at most 40 characters: each character except a–z and 0–9 becomes "_".
std::string slug(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result)
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) c = '_';
  return result;
}

/// Takes over the outcome that kbench wrote when it exported the result, except `correct`.
void refine(const json& metadata, ImportedVerdict& verdict) {
  const auto outcome = outcome_from_name(text_field(metadata, kOutcomeKey));
  if (!outcome || *outcome == Outcome::kCorrect || *outcome == Outcome::kHarnessFault) return;
  verdict.outcome = *outcome;
  verdict.cause = slug(text_field(metadata, kCauseKey));
}

/// The sentence of a row; if there is none, the exception's name.
std::string explanation(const json& metadata, const MetadataRow& row) {
  const std::string text = text_field(metadata, row.text);
  return text.empty() ? text_field(metadata, row.name) : text;
}

void explain_failure(const KernelBenchResult& result, ImportedVerdict& verdict) {
  const json& metadata = result.metadata;
  const auto* row = std::ranges::find_if(
      kMetadata, [&](const MetadataRow& at) { return !explanation(metadata, at).empty(); });
  if (row != std::end(kMetadata)) {
    const std::string text = explanation(metadata, *row);
    const ErrorRow error = matching(row->errors, text + "\n" + text_field(metadata, row->name));
    verdict.outcome = error.outcome;
    verdict.cause = error.cause;
    verdict.message = sentence_of(text);
  } else {
    verdict.outcome = result.compiled ? Outcome::kMismatch : Outcome::kCompileFailure;
    verdict.cause = "no_reason_given";
    verdict.message = "KernelBench gives no reason";
  }
  if (verdict.outcome == Outcome::kMismatch) {
    verdict.trials = failed_trials(metadata);
    if (const std::string passed = text_field(metadata, "correctness_trials"); !passed.empty())
      verdict.message += fmt::format(", trials passed: {}", sentence_of(passed));
  }
  refine(metadata, verdict);
}

}  // namespace

ImportedVerdict imported_verdict(const KernelBenchResult& result) {
  ImportedVerdict verdict;
  if (result.compiled && result.correct) {
    verdict.outcome = Outcome::kCorrect;
    if (is_set(result.metadata, "excessive_speedup"))
      verdict.flags.emplace_back("excessive_speedup");
    if (is_set(result.metadata, "error_during_performance"))
      verdict.flags.emplace_back("timing_failed");
  } else if (result.correct) {
    verdict.outcome = Outcome::kCompileFailure;
    verdict.cause = "contradictory";
    verdict.message = "KernelBench's result says correct, but not compiled";
  } else {
    explain_failure(result, verdict);
  }
  verdict.stage = stage_of(verdict.outcome);
  if (!result.compiled) verdict.stage = std::min(verdict.stage, Stage::kCompile);
  return verdict;
}

}  // namespace kbench

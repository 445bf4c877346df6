// SPDX-License-Identifier: MIT
#include "kbench/candidate.hpp"

#include <fmt/format.h>

#include <array>

#include "core/candidate_file.hpp"
#include "core/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

struct KindRow {
  CandidateKind kind;
  std::string_view name;
};
constexpr std::array<KindRow, 3> kKinds = {{
    {CandidateKind::kKernel, "kernel"},
    {CandidateKind::kExtension, "extension"},
    {CandidateKind::kModule, "module"},
}};

/// Whether a `//@` line says more than which problem the file is for.
bool has_plan(std::string_view source) {
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (!line.starts_with("//@")) continue;
    line = trimmed(line.substr(3));
    const std::string_view word = line.substr(0, line.find_first_of(" \t#"));
    if (!word.empty() && word != "problem") return true;
  }
  return false;
}

void reject(Candidate& candidate, std::string cause, std::string message) {
  candidate.source.clear();
  candidate.reject_cause = std::move(cause);
  candidate.reject_message = std::move(message);
}

std::string oversized(std::size_t bytes) {
  return fmt::format("The file has {} bytes; more than {} are not read.", bytes,
                     kMaxCandidateBytes);
}

}  // namespace

std::string_view to_string(CandidateKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

std::optional<CandidateKind> candidate_kind_from_name(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

CandidateSource parse_candidate_source(std::string_view argument) {
  if (argument.empty()) throw UsageError("--candidates needs PATH or MODEL=PATH");
  std::error_code error;
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || fs::exists(fs::path(argument), error)) {
    return {std::nullopt, fs::path(argument)};
  }
  const std::string_view model = trimmed(argument.substr(0, equals));
  const std::string_view path = argument.substr(equals + 1);
  if (model.empty() || path.empty()) {
    throw UsageError(
        fmt::format("--candidates {}: MODEL=PATH needs both a model and a path", argument));
  }
  return {std::string(model), fs::path(path)};
}

void classify(Candidate& candidate, std::string_view file_name) {
  if (file_name.ends_with(".py")) {
    candidate.kind = CandidateKind::kModule;
  } else {
    candidate.kind =
        has_plan(candidate.source) ? CandidateKind::kKernel : CandidateKind::kExtension;
  }
  if (!candidate.reject_cause.empty()) return;
  if (candidate.source.size() > kMaxCandidateBytes) {
    reject(candidate, "oversized", oversized(candidate.source.size()));
  } else if (!is_utf8(candidate.source)) {
    reject(candidate, "not_utf8", "The file is not UTF-8 text.");
  } else if (trimmed(candidate.source).empty()) {
    reject(candidate, "empty", "The file is empty.");
  }
}

bool is_candidate_file(const fs::path& path) {
  return path.extension() == ".cu" ||
         (path.extension() == ".py" && path.filename() != "__init__.py");
}

void fill_candidate(Candidate& candidate, const fs::path& path, FileBytes bytes) {
  candidate.path = path;
  candidate.id = path.string();
  candidate.source = std::move(bytes.bytes);
  if (bytes.too_large) {
    reject(candidate, "oversized", oversized(bytes.size_bytes));
  } else if (!bytes.error.empty()) {
    reject(candidate, "unreadable", fmt::format("The file cannot be read: {}.", bytes.error));
  }
  classify(candidate, path.filename().native());
}

Candidate load_candidate(const fs::path& path, const Problem& problem, std::string model,
                         int sample) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw UsageError(fmt::format("there is no candidate {}", path.string()));
  }
  if (fs::is_directory(status)) {
    throw UsageError(fmt::format("the candidate {} is a folder, not a file", path.string()));
  }
  if (!is_candidate_file(path)) {
    throw UsageError(
        fmt::format("the candidate {} is neither a .cu nor a .py file", path.string()));
  }
  Candidate candidate;
  candidate.model = std::move(model);
  candidate.problem = problem.key;
  candidate.sample = sample;
  fill_candidate(candidate, path.lexically_normal(), read_file(path, kMaxCandidateBytes));
  return candidate;
}

}  // namespace kbench

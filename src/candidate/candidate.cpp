// SPDX-License-Identifier: MIT
#include "kbench/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "base/python_encoding.hpp"
#include "base/text.hpp"
#include "candidate/file.hpp"
#include "candidate/place.hpp"
#include "candidate/response_blocks.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

bool has_plan(std::string_view source) {
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    if (is_plan_line(line)) return true;
  }
  return false;
}

void reject(Candidate& candidate, std::string cause, std::string message) {
  candidate.source.clear();
  candidate.reject_cause = std::move(cause);
  candidate.reject_message = std::move(message);
}

std::string oversized(std::size_t bytes) {
  return fmt::format("The file has {} bytes; the limit is {}.", bytes, kMaxCandidateBytes);
}

/// True if a line has no effect: a comment, a fence, or a placeholder word for a missing answer.
bool says_nothing(std::string_view line) {
  constexpr std::string_view kWords[] = {"None", "null", "pass", "...", "\"\"", "''"};
  line = trimmed(line);
  if (line.empty() || (line.starts_with("//") && !line.starts_with("//@"))) return true;
  // "#include" is not a comment.
  if (line.starts_with('#'))
    return line.size() == 1 || line[1] == ' ' || line[1] == '#' || line[1] == '!';
  // A fence, and the name of its language.
  for (const std::string_view fence : {"```", "~~~"})
    if (line.starts_with(fence))
      return line.find_first_not_of("`~ abcdefghijklmnopqrstuvwxyz+") == std::string_view::npos;
  return std::ranges::find(kWords, line) != std::end(kWords);
}

/// True if a non-empty text has no code, as after a failed generation.
bool holds_no_code(std::string_view source) {
  bool in_comment = false;
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (!in_comment && line.starts_with("/*")) {
      in_comment = true;
      line.remove_prefix(2);
    }
    if (in_comment) {
      const std::size_t end = line.find("*/");
      if (end == std::string_view::npos) continue;
      in_comment = false;
      line.remove_prefix(end + 2);
    }
    if (!says_nothing(line)) return false;
  }
  return !in_comment;
}

/// Replaces each lone carriage return by a newline. Python ends a line there, but people do not see
/// it.
void end_lines_alike(std::string& source) {
  for (std::size_t at = source.find('\r'); at != std::string::npos; at = source.find('\r', at + 1))
    if (at + 1 == source.size() || source[at + 1] != '\n') source[at] = '\n';
}

/// Rejects a candidate that is not text, or has no code.
void reject_bytes(Candidate& candidate) {
  std::string& source = candidate.source;
  if (!candidate.reject_cause.empty()) return;
  if (source.size() > kMaxCandidateBytes) {
    return reject(candidate, "oversized", oversized(source.size()));
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (source.starts_with(kByteOrderMark)) source.erase(0, kByteOrderMark.size());
  end_lines_alike(source);
  if (source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff")) {
    return reject(candidate, "not_utf8", "The file is UTF-16 text: save it as UTF-8.");
  }
  if (const auto bad = first_bad_utf8(source)) {
    const auto line =
        1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
    return reject(candidate, "not_utf8",
                  fmt::format("The file is not UTF-8 text: byte 0x{:02x} in line {}.",
                              static_cast<unsigned char>(source[*bad]), line));
  }
  if (source.find('\0') != std::string::npos) {
    return reject(candidate, "not_text",
                  "The file contains NUL bytes: it is not text, or not UTF-8.");
  }
  const std::string_view text = trimmed(source);
  if (text.empty()) return reject(candidate, "empty", "The file is empty.");
  if (!holds_no_code(text)) return;
  constexpr std::size_t kShown = 20;
  const bool is_word = text.size() <= kShown && text.find('\n') == std::string_view::npos;
  reject(candidate, "no_code",
         is_word ? fmt::format("There is no code: the file contains only `{}`.", text)
                 : "There is no code: the file contains only comments and empty lines.");
}

/// True if a text is the source of a module: code, without prose or fences.
bool is_module(std::string_view source) {
  CodeTraits traits;
  Lines lines(source);
  for (std::string_view line; lines.next(line);) traits.note(line);
  return traits.kind() == CandidateKind::kModule;
}

/// Rejects a module that Python would not read as UTF-8, because people would see different code.
void reject_encoding(Candidate& candidate) {
  if (!candidate.reject_cause.empty() || candidate.kind != CandidateKind::kModule) return;
  const auto name = other_encoding(candidate.source);
  if (!name) return;
  constexpr std::size_t kShown = 40;
  reject(
      candidate, "other_encoding",
      fmt::format("The file declares the encoding `{}`, in which Python reads another text than in "
                  "UTF-8: save it as UTF-8, and declare UTF-8 or nothing.",
                  name->substr(0, kShown)));
}

/// Replaces the answer by its code.
void take_block(Candidate& candidate, ExtractedCode found) {
  if (!candidate.reject_cause.empty()) return;
  if (!found.cause.empty()) reject(candidate, std::move(found.cause), std::move(found.message));
  candidate.kind = found.kind;
  candidate.block = std::move(found.block);
  candidate.blocks = found.blocks;
  candidate.source = std::move(found.source);
}

}  // namespace

std::string candidate_hash(const Candidate& candidate) {
  if (candidate.files.empty()) return sha256_hex(candidate.source);
  Sha256 hash;
  hash.field(candidate.source);
  for (const auto& [name, text] : candidate.files) hash.field(name).field(text);
  return hash.hex();
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

bool has_spaced_mark(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("// ") && !line.starts_with("//\t")) return false;
  line = trimmed(line.substr(2));
  if (!line.starts_with('@')) return false;
  line = trimmed(line.substr(1));
  const auto holds = [&](std::string_view text) { return line.find(text) != line.npos; };
  if (holds("<<<") && holds(">>>")) return true;
  // The sign excludes sentences such as "// @ out of bounds".
  struct Statement {
    std::string_view start, sign;
  };
  constexpr std::array<Statement, 8> kStatements = {{{"dims ", "["},
                                                     {"out ", "["},
                                                     {"out ", " like "},
                                                     {"tmp ", "["},
                                                     {"tmp ", " like "},
                                                     {"let ", " = "},
                                                     {"flags -", ""},
                                                     {"inout ", ""}}};
  return std::ranges::any_of(kStatements, [&](const Statement& statement) {
    return line.starts_with(statement.start) && holds(statement.sign);
  });
}

bool is_plan_line(std::string_view line) {
  line = trimmed(line);
  if (has_spaced_mark(line)) return true;
  if (!line.starts_with("//@")) return false;
  line = trimmed(line.substr(3));
  const std::string_view word = line.substr(0, line.find_first_of(" \t#"));
  return !word.empty() && word != "problem";
}

void classify(Candidate& candidate, std::string_view file_name) {
  reject_bytes(candidate);
  if (is_response_file(file_name)) {
    take_block(candidate, extract_code(candidate.source));
  } else if (file_name.ends_with(".py")) {
    candidate.kind = CandidateKind::kModule;
  } else {
    candidate.kind =
        has_plan(candidate.source) ? CandidateKind::kKernel : CandidateKind::kExtension;
  }
  reject_encoding(candidate);
}

void classify(Candidate& candidate) {
  reject_bytes(candidate);
  ExtractedCode found = extract_code(candidate.source);
  const bool module = found.block && found.kind == CandidateKind::kModule;
  if (found.is_answer) {
    take_block(candidate, std::move(found));
    return reject_encoding(candidate);
  }
  classify(candidate, module || is_module(candidate.source) ? "candidate.py" : "candidate.cu");
}

bool is_code_file(const fs::path& path) {
  return path.extension() == ".cu" ||
         (path.extension() == ".py" && path.filename() != "__init__.py");
}

bool is_response_file(const fs::path& path) {
  return path.extension() == ".md" || path.extension() == ".txt";
}

std::string no_candidate(const fs::path& path) {
  return fmt::format("the candidate {} is not a .cu, .py, .md or .txt file", path.string());
}

std::optional<std::string> fill_candidate(Candidate& candidate, const fs::path& path,
                                          FileBytes bytes) {
  end_lines_alike(bytes.bytes);
  // A rejected file still belongs to its problem, so its line is read first.
  auto problem = path.extension() == ".cu" ? problem_line(bytes.bytes) : std::nullopt;
  candidate.path = path;
  candidate.id = as_utf8(path.string());  // records are JSON
  candidate.source = std::move(bytes.bytes);
  if (bytes.too_large) {
    reject(candidate, "oversized", oversized(bytes.size_bytes));
  } else if (!bytes.error.empty()) {
    reject(candidate, "unreadable", fmt::format("The file cannot be read: {}.", bytes.error));
  }
  classify(candidate, path.filename().native());
  if (path.extension() == ".py") candidate.files = accompanying_files(path, candidate.source);
  if (candidate.block && candidate.kind != CandidateKind::kModule) {
    problem = problem_line(candidate.source);
  }
  return problem;
}

Candidate read_candidate(const fs::path& path) { return read_candidate(path, {}, nullptr); }

Candidate read_candidate(const fs::path& path, const std::vector<Problem>& problems,
                         std::string* unplaced_because) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw UsageError(fmt::format("there is no candidate {}", path.string()));
  }
  if (fs::is_directory(status)) {
    throw UsageError(fmt::format("the candidate {} is a folder, not a file", path.string()));
  }
  if (!is_code_file(path) && !is_response_file(path)) throw UsageError(no_candidate(path));
  Candidate candidate;
  const auto said =
      fill_candidate(candidate, path.lexically_normal(), read_file(path, kMaxCandidateBytes));
  if (unplaced_because == nullptr) return candidate;
  const fs::path full = fs::absolute(path).lexically_normal();
  const Place place = Places(problems).of_candidate(full, full.parent_path(), said);
  if (place.of_other_problem) {
    *unplaced_because =
        fmt::format("the problem of {} is unknown{}: name it with --problem", path.string(),
                    said ? fmt::format(" (`//@ problem {}`)", as_utf8(*said)) : "");
  } else {
    *unplaced_because = unplaced(place, path);
  }
  if (place.problems.size() != 1) return candidate;
  candidate.problem = place.problems.front()->key;
  if (place.contradiction && candidate.reject_cause.empty()) {
    candidate.reject_cause = "other_problem";
    candidate.reject_message = contradiction_text(place);
  }
  return candidate;
}

Candidate load_candidate(const fs::path& path, const Problem& problem, std::string model,
                         int sample) {
  Candidate candidate = read_candidate(path);
  candidate.model = std::move(model);
  candidate.problem = problem.key;
  candidate.sample = sample;
  return candidate;
}

}  // namespace kbench

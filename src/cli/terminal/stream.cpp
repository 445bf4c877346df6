// SPDX-License-Identifier: MIT
#include "cli/terminal/stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

using nlohmann::json;

/// The field's value, or `otherwise` if it is absent or null. Throws UsageError that names the
/// field if it has another type.
template <typename T>
T field(const json& line, const char* name, T otherwise) {
  const auto found = line.find(name);
  if (found == line.end() || found->is_null()) return otherwise;
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    throw UsageError(fmt::format("field \"{}\" is of another type", name));
  }
}

const Problem& problem_named(const std::string& name, const std::vector<Problem>& problems) {
  const Problem* found = nullptr;
  for (const auto& problem : problems) {
    if (problem.key == name) return problem;
    if (problem.name != name && problem.id != name) continue;
    if (found != nullptr)
      throw UsageError(fmt::format("problem \"{}\" is ambiguous, {} or {}: write one of them", name,
                                   found->key, problem.key));
    found = &problem;
  }
  if (found != nullptr) return *found;
  std::vector<std::string> names;
  names.reserve(problems.size());
  for (const auto& problem : problems) names.push_back(problem.key);
  constexpr std::size_t kMostNamed = 5;
  throw UsageError(fmt::format("the run has no problem \"{}\"{}", name,
                               names.size() > kMostNamed
                                   ? did_you_mean(name, names)
                                   : fmt::format(", but {}", fmt::join(names, ", "))));
}

/// Refuses a field whose name is nearly that of a known one. Others are the caller's own.
void check_names(const json& object) {
  static const std::vector<std::string> kFields{"problem", "source", "id",
                                                "model",   "sample", "kind"};
  for (const auto& [name, value] : object.items()) {
    if (is_one_of(name, kFields)) continue;
    if (const std::string meant = did_you_mean(name, kFields); !meant.empty())
      throw UsageError(fmt::format("unknown field \"{}\"{}", name, meant));
  }
}

}  // namespace

std::optional<std::string> LineReader::next() {
  while (true) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      return line;
    }
    if (ended_) return std::nullopt;
    std::array<pollfd, 2> polls{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{cancel_fd_, POLLIN, 0}};
    if (poll(polls.data(), polls.size(), -1) < 0 && errno == EINTR) continue;
    if (polls[1].revents != 0) return std::nullopt;
    std::array<char, 1 << 16> chunk;
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got > 0)
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    else
      ended_ = true;
  }
}

void SampleNumbers::give(Candidate& candidate) {
  Taken& taken = taken_[{candidate.model, candidate.problem}];
  if (candidate.sample == kNone) {
    while (taken.numbers.contains(taken.below)) ++taken.below;
    candidate.sample = taken.below;
  }
  if (!taken.numbers.insert(candidate.sample).second)
    throw UsageError(
        fmt::format("sample {} of model \"{}\" for {} was in an earlier line: give it another "
                    "\"sample\", or none",
                    candidate.sample, candidate.model, candidate.problem));
}

Candidate candidate_from_line(const std::string& line, const std::vector<Problem>& problems,
                              std::size_t line_number) {
  json object;
  try {
    object = json::parse(line);
  } catch (const json::exception& error) {
    const std::string_view said = error.what();
    throw UsageError(fmt::format("not JSON: {}", said.substr(said.find("] ") + 2)));
  }
  if (!object.is_object()) throw UsageError("not a JSON object");
  check_names(object);
  Candidate candidate;
  const auto name = field<std::string>(object, "problem", "");
  if (name.empty()) throw UsageError("no field \"problem\"");
  if (!object.contains("source")) throw UsageError("no field \"source\"");
  candidate.problem = problem_named(name, problems).key;
  candidate.source = field<std::string>(object, "source", "");
  candidate.id = field<std::string>(object, "id", fmt::format("line {}", line_number));
  candidate.model = field<std::string>(object, "model", "stdin");
  if (candidate.model.empty()) throw UsageError("field \"model\" is empty");
  candidate.sample = field<int>(object, "sample", SampleNumbers::kNone);
  if (candidate.sample < 0 && object.contains("sample") && !object["sample"].is_null())
    throw UsageError("field \"sample\" is negative");
  const auto kind = field<std::string>(object, "kind", "");
  if (kind.empty() || kind == "response") {
    kind.empty() ? classify(candidate) : classify(candidate, "answer.md");
    return candidate;
  }
  const auto known = candidate_kind_from_name(kind);
  if (!known)
    throw UsageError(
        fmt::format("unknown kind \"{}\"; there are kernel, extension, module and response", kind));
  classify(candidate, kind == "module" ? "candidate.py" : "candidate.cu");
  candidate.kind = *known;
  return candidate;
}

}  // namespace kbench::cli

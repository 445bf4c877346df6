// SPDX-License-Identifier: MIT
#include "cli/options/eval_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "candidate/place.hpp"
#include "cli/options/changed_since.hpp"
#include "cli/options/problem_set.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"

namespace kbench::cli {
namespace {

struct Shard {
  std::size_t index = 0, count = 1;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  std::string_view rest = text;
  if (take_number(rest, shard.index) && rest.starts_with('/')) {
    rest.remove_prefix(1);
    if (take_number(rest, shard.count) && rest.empty() && shard.index < shard.count) return shard;
  }
  throw UsageError(fmt::format("--shard {}: write i/n with 0 <= i < n, as in 0/4", text));
}

/// Adds a `missing` candidate for each problem that a model with other candidates does not answer.
void add_missing(EvalInput& input) {
  std::set<std::string> models;
  std::set<std::pair<std::string, std::string>> there;
  for (const auto& candidate : input.candidates) {
    models.insert(candidate.model);
    there.emplace(candidate.model, candidate.problem);
  }
  for (const auto& model : models)
    for (const auto& problem : input.problems) {
      if (there.contains({model, problem.key})) continue;
      Candidate missing;
      missing.id = fmt::format("{} for {}", model, problem.key);
      missing.model = model;
      missing.problem = problem.key;
      missing.reject_cause = "no_code";
      missing.reject_message = "the model has no candidate for this problem";
      input.candidates.push_back(std::move(missing));
    }
}

std::vector<CandidateSource> candidate_sources(const EvalInputArguments& arguments,
                                               const Installation& installation) {
  std::vector<CandidateSource> sources;
  for (const auto& argument : arguments.candidates)
    sources.push_back(parse_candidate_source(argument));
  if (sources.empty()) sources.push_back({std::nullopt, installation.candidates});
  return sources;
}

std::string name_the_set(const EvalInputArguments& arguments) {
  return fmt::format("name their problem set, as in kbench eval PATH/KernelBench --candidates {}",
                     fmt::join(arguments.candidates, " --candidates "));
}

/// The file of --candidate, for the one problem that is named, else for the one that its path or
/// its `//@ problem` line names.
Candidate the_candidate(const EvalInputArguments& arguments, const std::vector<Problem>& problems,
                        const Installation& installation) {
  const bool named = !arguments.problem.empty() || !arguments.problems.empty();
  if (named && problems.size() == 1)
    return load_candidate(arguments.candidate, problems.front(), "candidate", 0);
  if (!arguments.problem.empty())
    throw UsageError(
        arguments.problems.empty()
            ? fmt::format("--problem {} names {} problems; --candidate needs one",
                          arguments.problem, problems.size())
            : fmt::format("--candidate needs one problem: name either {} or --problem {}",
                          fmt::join(arguments.problems, " "), arguments.problem));
  std::string unplaced;
  Candidate candidate = read_candidate(arguments.candidate, problems, &unplaced);
  if (has_numbers_only(arguments.candidate) &&
      !is_set_named(arguments.problem_set, arguments.problems, problems, installation))
    unplaced = fmt::format(
        "the name of {} has only numbers of KernelBench's: name its problem "
        "with --problem",
        arguments.candidate);
  if (!unplaced.empty()) throw UsageError(unplaced);
  candidate.model = "candidate";
  return candidate;
}

}  // namespace

bool has_numbers_only(const std::filesystem::path& candidate) {
  return run_file_name(candidate.stem().native()).has_value();
}

bool is_set_named(const std::string& set, const std::vector<std::string>& arguments,
                  const std::vector<Problem>& problems, const Installation& installation) {
  const auto is_path = [](const std::string& argument) {
    std::error_code error;
    return std::filesystem::exists(argument, error);
  };
  const auto is_shipped = [&](const Problem& problem) {
    return problem.path.string().starts_with(installation.problems.string());
  };
  return !set.empty() || std::ranges::any_of(arguments, is_path) ||
         std::ranges::none_of(problems, is_shipped);
}

std::vector<Problem> find_eval_problems(const EvalInputArguments& arguments,
                                        const Installation& installation) {
  auto patterns = arguments.problems;
  if (!arguments.problem.empty()) patterns.push_back(arguments.problem);
  return find_problems(patterns, problem_sets(arguments.problem_set, installation));
}

EvalInput find_eval_input(const EvalInputArguments& arguments, const Installation& installation) {
  if (arguments.candidate.empty() && !arguments.problem.empty())
    throw UsageError("--problem names the problem of --candidate, which is not given");
  EvalInput input;
  input.problems = find_eval_problems(arguments, installation);
  const Shard shard = parse_shard(arguments.shard);
  if (!arguments.candidate.empty()) {
    input.candidates.push_back(the_candidate(arguments, input.problems, installation));
    std::erase_if(input.problems, [&](const Problem& problem) {
      return problem.key != input.candidates.front().problem;
    });
  } else {
    auto found = find_candidates(candidate_sources(arguments, installation), input.problems);
    input.candidates = std::move(found.candidates);
    input.notes = std::move(found.notes);
    if (!found.first_numbered.empty() &&
        !is_set_named(arguments.problem_set, arguments.problems, input.problems, installation))
      throw UsageError(
          fmt::format("{} is named as in a KernelBench run folder, by numbers that mean other "
                      "problems among the shipped ones: {}",
                      found.first_numbered, name_the_set(arguments)));
    const bool named = !arguments.problems.empty();
    if (!arguments.candidates.empty()) input.left_out = std::move(found.left_out);
    if (input.candidates.empty() && arguments.candidates.empty())
      throw UsageError("no shipped candidate is for these problems: give yours with --candidates");
    const std::string left_out = left_out_text(input.left_out);
    if (input.candidates.empty())
      throw UsageError(fmt::format("{}: {}", left_out, name_the_set(arguments)));
    if (!left_out.empty()) input.notes.push_back(left_out + "; kbench does not judge them");
    std::set<std::string> with_code;
    for (const auto& candidate : input.candidates) with_code.insert(candidate.problem);
    if (!named)
      std::erase_if(input.problems,
                    [&](const Problem& problem) { return !with_code.contains(problem.key); });
    add_missing(input);
  }
  if (!arguments.changed_since.empty()) keep_changed(input, arguments.changed_since);
  std::map<std::string, std::size_t> place;
  for (const auto& problem : input.problems) place.emplace(problem.key, place.size());
  for (const auto& candidate : input.candidates)
    if (place.at(candidate.problem) % shard.count == shard.index) input.shard.push_back(candidate);
  return input;
}

std::string problem_set_hash(const std::vector<Problem>& problems) {
  Sha256 hash;
  for (const auto& problem : problems) hash.field(problem.key).field(problem.source);
  return hash.hex();
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace kbench::cli

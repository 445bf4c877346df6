// SPDX-License-Identifier: MIT
#include "candidate/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "problem/files.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

/// Removes `text` from the front of `rest`, if it is there.
bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

/// Removes a number from the front of `rest`.
std::optional<int> take_number(std::string_view& rest) {
  int number = 0;
  if (rest.starts_with('-') || !kbench::take_number(rest, number)) return std::nullopt;
  return number;
}

/// A folder or file that may name a problem: its name, and the level of the folder above.
struct Step {
  std::string name;
  std::optional<int> level;
  fs::path model_folder;
};

Step step(const fs::path& folder, std::string name) {
  Step step{std::move(name), level_of_folder(folder.filename().native()), folder};
  if (step.level) step.model_folder = folder.parent_path();
  return step;
}

/// The folders from the file's own up to `root`, then the file's stem.
std::vector<Step> steps(const fs::path& path, const fs::path& root) {
  std::vector<Step> steps;
  for (fs::path folder = path.parent_path();; folder = folder.parent_path()) {
    steps.push_back(step(folder.parent_path(), folder.filename().string()));
    if (folder == root || folder == folder.parent_path()) break;
  }
  steps.push_back(step(path.parent_path(), path.stem().string()));
  return steps;
}

/// "level1_19_ReLU" as the key "level1/19_ReLU"; any other name unchanged.
std::string with_slash(std::string_view name) {
  std::string_view rest = name;
  if (!take(rest, "level")) return std::string(name);
  take(rest, "_");
  const auto level = take_number(rest);
  if (!level || rest.size() < 2 || (rest[0] != '_' && rest[0] != '/')) return std::string(name);
  return fmt::format("level{}/{}", *level, rest.substr(1));
}

/// Suffixes after the sample number in the name of a run folder's file. A file with "_prompt" is
/// not a candidate.
constexpr std::array<std::string_view, 3> kRunFileEnds = {"_kernel", "_response", ""};

/// Words that may accompany a sample's number in an answer's file name.
constexpr std::array<std::string_view, 8> kSampleWords = {
    "sample", "answer", "response", "completion", "generation", "output", "attempt", "kernel"};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// True if a step names a level, and therefore a problem, known or not.
bool names_level(const Step& step) {
  return step.level || with_slash(step.name).find('/') != std::string::npos;
}

bool looks_like_problem(const Step& step) {
  return names_level(step) || !id_of_stem(step.name).empty();
}

/// `folder` and, if it is a level folder, its sibling level folders.
std::set<fs::path> level_folders(const fs::path& folder) {
  std::set<fs::path> folders = {folder};
  if (!level_of_folder(folder.filename().native())) return folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder.parent_path(), error), end; !error && entry != end;
       entry.increment(error))
    if (level_of_folder(entry->path().filename().native())) folders.insert(entry->path());
  return folders;
}

/// True if `name`, from a `//@ problem` line, is the problem's key or name in any case.
bool is_name_of(std::string_view name, const Problem& problem) {
  const std::string wanted = lowercase(with_slash(name));
  if (wanted == lowercase(problem.key) || wanted == lowercase(problem.name)) return true;
  // For a problem outside of level folders, any level in the line is accepted.
  const std::size_t slash = wanted.find('/');
  return problem.level == 0 && slash != std::string::npos &&
         wanted.substr(slash + 1) == lowercase(problem.name);
}

}  // namespace

std::optional<std::string> problem_line(std::string_view source) {
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    line = trimmed(line);
    if (!take(line, "//")) continue;
    const bool spaced = !line.starts_with('@');
    line = trimmed(line);
    if (!take(line, "@")) continue;
    line = trimmed(line);
    if (!take(line, "problem") || line.empty() || (line[0] != ' ' && line[0] != '\t')) continue;
    const std::string_view name = trimmed(line.substr(0, line.find('#')));
    // A sentence may begin with "// @ problem"; a name is one word.
    const bool is_sentence = spaced && name.find_first_of(" \t") != std::string_view::npos;
    if (!name.empty() && !is_sentence) return std::string(name);
  }
  return std::nullopt;
}

std::optional<RunFileName> run_file_name(std::string_view stem) {
  std::string_view rest = stem;
  if (!take(rest, "level_")) return std::nullopt;
  const auto level = take_number(rest);
  if (!level || !take(rest, "_problem_")) return std::nullopt;
  const auto problem = take_number(rest);
  if (!problem || !take(rest, "_sample_")) return std::nullopt;
  const auto sample = take_number(rest);
  if (!sample || std::ranges::find(kRunFileEnds, rest) == kRunFileEnds.end()) return std::nullopt;
  return RunFileName{.level = *level, .problem = *problem, .sample = *sample};
}

Places::Places(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    by_key_[lowercase(problem.key)] = &problem;
    by_stem_[lowercase(problem.name)].push_back(&problem);
    if (!problem.id.empty()) by_level_and_id_[{problem.level, problem.id}].push_back(&problem);
    if (problem.path.empty()) continue;
    const fs::path folder = fs::absolute(problem.path).lexically_normal().parent_path();
    if (!folders_.contains(folder)) folders_.merge(level_folders(folder));
  }
}

std::vector<const Problem*> Places::named(std::string_view name) const {
  const std::string wanted = lowercase(with_slash(name));
  if (const auto found = by_key_.find(wanted); found != by_key_.end()) return {found->second};
  const auto found = by_stem_.find(wanted);
  return found == by_stem_.end() ? std::vector<const Problem*>() : found->second;
}

bool names_sample(std::string_view stem) {
  int numbers = 0;
  while (!stem.empty()) {
    const std::size_t end = std::min(stem.find_first_of("_-. "), stem.size());
    const std::string word = lowercase(stem.substr(0, end));
    stem.remove_prefix(std::min(end + 1, stem.size()));
    if (is_number(word)) {
      ++numbers;
    } else if (std::ranges::find(kSampleWords, word) == kSampleWords.end()) {
      return false;
    }
  }
  return numbers == 1;
}

std::string sample_name(std::string_view stem) {
  for (const std::string_view end : kRunFileEnds) {
    if (!end.empty() && stem.ends_with(end)) stem.remove_suffix(end.size());
  }
  return std::string(stem);
}

std::string contradiction_text(const Place& place) {
  constexpr std::size_t kShown = 80;
  const std::string said = as_utf8(std::string_view(*place.contradiction).substr(0, kShown));
  return fmt::format(
      "The path names the problem {}, but the file's `//@ problem` line names `{}`: correct one of "
      "them. The candidate counts for the problem of the path.",
      place.problems.front()->key, said);
}

std::string unplaced(const Place& place, const fs::path& shown) {
  if (place.problems.size() == 1) return "";
  if (place.problems.empty()) {
    return fmt::format(
        "the candidate {} belongs to no problem: neither a folder nor the file has a problem's "
        "name, and no line says \"//@ problem NAME\"; use `--candidate FILE --problem P`, or name "
        "the problems before `--candidates`",
        shown.string());
  }
  return fmt::format("the candidate {} may belong to {} or to {}; name the level too, as in {}",
                     shown.string(), place.problems[0]->key, place.problems[1]->key,
                     place.problems[0]->key);
}

Place Places::of_candidate(const fs::path& path, const fs::path& root,
                           const std::optional<std::string>& said) const {
  Place place = of_path(path, root);
  if (!said || place.path_decides) return place;
  if (place.problems.empty()) {
    place.problems = named(*said);
    place.of_other_problem = place.problems.empty();
    return place;
  }
  std::vector<const Problem*> meant;
  for (const Problem* problem : place.problems)
    if (is_name_of(*said, *problem)) meant.push_back(problem);
  if (meant.empty())
    place.contradiction = *said;
  else
    place.problems = std::move(meant);
  return place;
}

bool Places::is_problem_file(const std::string& stem) const {
  return std::ranges::any_of(folders_, [&](const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / (stem + ".py"), error);
  });
}

bool Places::has_answer(const fs::path& path, const fs::path& root) const {
  if (of_run_file(path)) return true;
  if (!names_sample(path.stem().native())) return false;
  // Only the folders decide: "3_response" itself looks like a problem with the number 3.
  const Place place = of_path(path.parent_path() / "-", root);
  return !place.problems.empty() || place.of_other_problem;
}

Place Places::of_path(const fs::path& path, const fs::path& root) const {
  if (auto place = of_run_file(path)) return *place;
  const std::vector<Step> all = steps(path, root);
  for (const Step& step : all) {
    std::vector<const Problem*> problems =
        named(step.level ? fmt::format("level{}/{}", *step.level, step.name) : step.name);
    if (problems.empty()) continue;
    Place place;
    place.problems = std::move(problems);
    place.model_folder = step.model_folder;
    return place;
  }
  Place place;
  place.model_folder = path.parent_path();
  for (const Step& step : all) {
    if (!looks_like_problem(step)) continue;
    // "2_fast" may be a sample's name, or a model's folder.
    const bool decides = names_level(step) || is_problem_file(step.name);
    if (place.of_other_problem && !decides) continue;
    place.of_other_problem = true;
    place.path_decides = decides;
    place.model_folder = step.model_folder;
    if (decides) break;
  }
  return place;
}

std::optional<Place> Places::of_run_file(const fs::path& path) const {
  const auto name = run_file_name(path.stem().native());
  if (!name) return std::nullopt;
  const auto found = by_level_and_id_.find({name->level, std::to_string(name->problem)});
  Place place;
  place.model_folder = path.parent_path();
  place.sample = name->sample;
  if (found != by_level_and_id_.end()) place.problems = found->second;
  place.of_other_problem = place.path_decides = place.problems.empty();
  return place;
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/file_tree.hpp"
#include "base/text.hpp"
#include "candidate/file.hpp"
#include "candidate/generation_config.hpp"
#include "candidate/place.hpp"
#include "kbench/candidate.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

/// A candidate before it gets its sample number.
struct Entry {
  Candidate candidate;
  std::size_t problem = 0;  ///< index among the problems
  std::optional<int> sample;
  bool contradicts = false;  ///< its `//@ problem` line and its path name different problems
  fs::path real_path;
};

/// One call of find_candidates.
class Finder {
 public:
  explicit Finder(const std::vector<Problem>& problems) : problems_(problems), places_(problems) {}

  void add(const CandidateSource& source) {
    std::error_code error;
    model_ = source.model;
    const fs::file_status status = fs::status(source.path, error);
    if (!fs::exists(status)) fail_missing(source.path);
    if (!fs::is_directory(status)) {
      if (!is_code_file(source.path) && !is_response_file(source.path)) {
        throw UsageError(no_candidate(source.path));
      }
      const fs::path full = fs::absolute(source.path).lexically_normal();
      root_ = full.parent_path();
      file(source.path.lexically_normal(), full, true);
      return;
    }
    fs::path shown = source.path.lexically_normal();
    if (!shown.has_filename() && shown.has_parent_path()) shown = shown.parent_path();
    root_ = fs::canonical(source.path);
    files_seen_ = 0;
    folder(shown, root_);
    if (files_seen_ == 0) {
      throw UsageError(
          fmt::format("the folder {} holds no candidates: no .cu or .py file, and no .md or .txt "
                      "named after a sample of a problem, like 19_ReLU/0.md",
                      shown.string()));
    }
  }

  FoundCandidates finish() && {
    if (entries_.empty() && !first_unplaced_.empty()) throw UsageError(first_unplaced_);
    drop_parts();
    leave_samples();
    number_samples();
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      if (a.problem != b.problem) return a.problem < b.problem;
      if (a.candidate.model != b.candidate.model) {
        return natural_less(a.candidate.model, b.candidate.model);
      }
      return a.candidate.sample < b.candidate.sample;
    });
    for (Entry& entry : entries_) found_.candidates.push_back(std::move(entry.candidate));
    return std::move(found_);
  }

 private:
  /// `shown`: the path as the user gave it. `full`: the same path below the canonical root.
  void folder(const fs::path& shown, const fs::path& full) {
    if (!descent_.enter(full)) return;
    const FolderEntries entries = list_folder(shown);
    std::set<std::string> with_code;
    for (const fs::path& path : entries.files) {
      if (is_code_file(path)) with_code.insert(sample_name(path.stem().native()));
    }
    for (const fs::path& path : entries.files) {
      const fs::path below = full / path.filename();
      if (is_code_file(path) || (is_response_file(path) && places_.has_answer(below, root_) &&
                                 !with_code.contains(sample_name(path.stem().native())))) {
        file(path, below, false);
      }
    }
    for (const fs::path& path : entries.folders) {
      if (is_foreign_folder(path)) continue;
      if (fs::is_symlink(path) && !leads_inside(path, root_)) {
        found_.notes.push_back(fmt::format(
            "{} is a link that leaves {}, so kbench does not follow it; give its target to "
            "--candidates",
            path.string(), root_.string()));
        continue;
      }
      folder(path, full / path.filename());
    }
    descent_.leave();
  }

  void file(const fs::path& shown, const fs::path& full, bool named) {
    ++files_seen_;
    if (found_.first_numbered.empty() && run_file_name(full.stem().native()))
      found_.first_numbered = as_utf8(shown.string());
    const bool leaves = !named && fs::is_symlink(shown) && !leads_inside(shown, root_);
    FileBytes bytes;
    if (leaves) {
      bytes.error = "it is a link that is broken or leaves the folder of candidates";
    } else {
      bytes = read_file(shown, kMaxCandidateBytes);
    }
    Entry entry;
    const auto said = fill_candidate(entry.candidate, shown, std::move(bytes));
    const Place place = places_.of_candidate(full, root_, said);
    std::error_code error;
    entry.real_path = leaves ? full : fs::weakly_canonical(shown, error);
    samples_.insert(entry.real_path);
    if (place.problems.size() != 1) {
      // A helper next to the candidates' folders.
      if (shown.extension() == ".py" && entry.candidate.reject_cause.empty() &&
          !place.of_other_problem && !entry.candidate.block &&
          entry.candidate.source.find("ModelNew") == std::string::npos) {
        if (first_unplaced_.empty()) first_unplaced_ = unplaced(place, shown);
        samples_.erase(entry.real_path);
        found_.notes.push_back(fmt::format("{} defines no ModelNew, so it is not a candidate",
                                           as_utf8(shown.string())));
        return;
      }
      return leave_out(place, shown, said);
    }
    entry.contradicts = place.contradiction.has_value();
    if (entry.contradicts && entry.candidate.reject_cause.empty()) {
      entry.candidate.reject_cause = "other_problem";
      entry.candidate.reject_message = contradiction_text(place);
    }
    const Problem* problem = place.problems.front();
    entry.candidate.problem = problem->key;
    entry.candidate.model = model_of(place, shown);
    entry.problem = static_cast<std::size_t>(problem - problems_.data());
    entry.sample = place.sample;
    check_new(entry);
    entries_.push_back(std::move(entry));
  }

  /// Leaves out a candidate that belongs to no problem of the run. This is not an error, because a
  /// candidate's text must not be able to end the run.
  void leave_out(const Place& place, const fs::path& shown,
                 const std::optional<std::string>& said) {
    constexpr std::size_t kNamed = 5, kShown = 80;
    if (!place.of_other_problem && first_unplaced_.empty())
      first_unplaced_ = unplaced(place, shown);
    if (++found_.left_out.count > kNamed) return;
    std::string why;
    if (place.problems.size() > 1)
      why = fmt::format(" (may belong to {} or to {})", place.problems[0]->key,
                        place.problems[1]->key);
    else if (said)
      why = fmt::format(" (`//@ problem {}`)", std::string_view(*said).substr(0, kShown));
    else if (!place.of_other_problem)
      why = " (names no problem)";
    found_.left_out.first.push_back(as_utf8(shown.string() + why));
  }

  std::string model_of(const Place& place, const fs::path& shown) {
    if (model_) return as_utf8(*model_);
    const auto [known, is_new] = models_.emplace(place.model_folder, "");
    if (is_new) {
      known->second = as_utf8(read_generation_config(place.model_folder).model);
      if (known->second.empty()) known->second = as_utf8(place.model_folder.filename().string());
    }
    if (known->second.empty()) {
      throw UsageError(
          fmt::format("no folder above {} names its model; give MODEL=PATH", shown.string()));
    }
    return known->second;
  }

  /// Throws UsageError for a file given twice, because its success would count twice.
  void check_new(const Entry& entry) {
    const auto [other, is_new] = files_.emplace(
        std::tuple(entry.problem, entry.candidate.model, entry.real_path), entry.candidate.path);
    if (is_new) return;
    const std::string again = entry.candidate.path == other->second
                                  ? std::string("given twice")
                                  : "also given as " + entry.candidate.path.string();
    throw UsageError(fmt::format("the candidate {} of model {} is {}", other->second.string(),
                                 entry.candidate.model, again));
  }

  /// Removes candidates that are part of a module: sources that it loads from a folder below its
  /// own.
  void drop_parts() {
    struct Owner {
      fs::path path;
      std::string problem, model;
    };
    std::map<fs::path, Owner> parts;
    for (const Entry& entry : entries_) {
      for (const auto& [name, text] : entry.candidate.files) {
        const fs::path part = entry.real_path.parent_path() / name;
        if (part.parent_path() != entry.real_path.parent_path()) {
          const Candidate& owner = entry.candidate;
          parts.emplace(part, Owner{owner.path, owner.problem, owner.model});
        }
      }
    }
    std::erase_if(entries_, [&](const Entry& entry) {
      const auto part = parts.find(entry.real_path);
      if (part == parts.end() || entry.contradicts) return false;
      // A module must not remove candidates of other problems or models from the manifest.
      const auto& [path, problem, model] = part->second;
      if (problem != entry.candidate.problem || model != entry.candidate.model) return false;
      found_.notes.push_back(fmt::format("{} is loaded by {}, so it is not a candidate",
                                         entry.candidate.path.string(), path.string()));
      samples_.erase(entry.real_path);
      return true;
    });
  }

  /// Removes other candidates from a module's accompanying files. Otherwise a module could submit
  /// another answer as its own.
  void leave_samples() {
    for (Entry& entry : entries_) {
      Candidate& candidate = entry.candidate;
      if (candidate.files.empty()) continue;
      auto own = accompanying_files(candidate.path, candidate.source, samples_);
      for (const auto& [name, text] : candidate.files) {
        if (own.contains(name)) continue;
        found_.notes.push_back(
            fmt::format("{} is not sent with {}: it is a candidate, or only candidates include it; "
                        "move files that a module loads into a folder below it",
                        (candidate.path.parent_path() / name).string(), candidate.path.string()));
      }
      candidate.files = std::move(own);
    }
  }

  void number_samples() {
    using Group = std::pair<std::size_t, std::string>;
    std::map<Group, int> next;
    std::map<std::pair<Group, int>, const Entry*> numbered;
    for (Entry& entry : entries_) {
      if (!entry.sample) continue;
      const Group group(entry.problem, entry.candidate.model);
      entry.candidate.sample = *entry.sample;
      next[group] = std::max(next[group], *entry.sample + 1);
      const auto [other, is_new] = numbered.emplace(std::pair(group, *entry.sample), &entry);
      if (is_new) continue;
      throw UsageError(fmt::format(
          "two files are sample {} of model {} for {}: {} and {}; give each model with MODEL=PATH",
          *entry.sample, entry.candidate.model, entry.candidate.problem,
          other->second->candidate.path.string(), entry.candidate.path.string()));
    }
    for (Entry& entry : entries_) {
      if (entry.sample) continue;
      entry.candidate.sample = next[Group(entry.problem, entry.candidate.model)]++;
    }
  }

  [[noreturn]] static void fail_missing(const fs::path& path) {
    std::vector<Spelled> names;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      names.push_back({path.has_parent_path() ? entry.path().string() : name, {name}});
    }
    std::string hint;
    for (const std::string& name : nearest_names(path.filename().string(), names, 1)) {
      hint = fmt::format("; did you mean {}?", name);
    }
    throw UsageError(
        fmt::format("there is no file or folder of candidates {}{}", path.string(), hint));
  }

  const std::vector<Problem>& problems_;
  Places places_;
  Descent descent_;
  std::optional<std::string> model_;  // of the current source, like the next two
  fs::path root_;
  std::size_t files_seen_ = 0;
  std::map<fs::path, std::string> models_;
  std::map<std::tuple<std::size_t, std::string, fs::path>, fs::path> files_;
  std::set<fs::path> samples_;  ///< canonical paths of all candidates, also of other problems
  std::vector<Entry> entries_;
  std::string first_unplaced_;  ///< the sentence for the first candidate that names no problem
  FoundCandidates found_;
};

}  // namespace

std::string left_out_text(const LeftOut& left_out) {
  if (left_out.count == 0) return "";
  std::string text =
      fmt::format("{} to no problem of the run: {}",
                  left_out.count == 1 ? "1 candidate belongs"
                                      : fmt::format("{} candidates belong", left_out.count),
                  fmt::join(left_out.first, ", "));
  if (left_out.count > left_out.first.size())
    text += fmt::format(", {} more", left_out.count - left_out.first.size());
  return text;
}

FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems) {
  Finder finder(problems);
  for (const CandidateSource& source : sources) finder.add(source);
  return std::move(finder).finish();
}

}  // namespace kbench

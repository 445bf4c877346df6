// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/problem.hpp"

namespace kbench {

/// The name of the problem that a `//@ problem NAME` line gives, if there is one.
std::optional<std::string> problem_line(std::string_view source);

/// Whether the stem of an answer's file is the number of a sample, alone or beside words that say
/// so
/// ("0", "sample_3", "response-12").
bool names_sample(std::string_view stem);

/// A file's stem without what tells an answer from its code: both have the same.
std::string sample_name(std::string_view stem);

/// Where a candidate belongs by its path.
struct Place {
  /// The problem; none where it is none of those asked for, several where the path is ambiguous.
  std::vector<const Problem*> problems;
  bool of_other_problem = false;       ///< it names a problem, but none of those asked for
  std::filesystem::path model_folder;  ///< the folder whose name, or config, says who wrote it
  std::optional<int> sample;           ///< where the file name says it
  /// Only with `of_other_problem`: the path surely names a problem (a level folder, the name of a
  /// run folder's file, or a problem's file beside those asked for), not only a number and a word.
  bool path_decides = false;
  /// A `//@ problem` line that names another problem than the path does.
  std::optional<std::string> contradiction;
};

/// What the name of a file in a KernelBench run folder says, of a kernel or of an answer.
struct RunFileName {
  int level = 0, problem = 0, sample = 0;
};
/// Reads the stem "level_1_problem_19_sample_0_kernel", or "…_response", or without an end.
std::optional<RunFileName> run_file_name(std::string_view stem);
/// The sentence of a candidate whose line contradicts its path, for its record.
std::string contradiction_text(const Place& place);
/// The sentence that says why a place with no problem, or with several, is none; "" where it is.
std::string unplaced(const Place& place, const std::filesystem::path& shown);

/// Finds the place of candidates among the problems of a run.
class Places {
 public:
  explicit Places(const std::vector<Problem>& problems);

  /// The place that the path names. `path` and `root` are absolute; folders from the file's own up
  /// to `root` count, and the one above where that is a level folder.
  Place of_path(const std::filesystem::path& path, const std::filesystem::path& root) const;

  /// The same, with the name that a `//@ problem` line of the candidate gives. The path wins: the
  /// line chooses among several problems that the path may mean, and decides only if the path names
  /// no problem. Another name than the path's is a `contradiction`.
  Place of_candidate(const std::filesystem::path& path, const std::filesystem::path& root,
                     const std::optional<std::string>& said) const;

  /// Whether the path of a model's answer names a problem, of these or another, and a sample.
  bool has_answer(const std::filesystem::path& path, const std::filesystem::path& root) const;

  /// The problems of that key or stem ("level1/19_ReLU", "level1_19_ReLU", "19_ReLU") in any case.
  std::vector<const Problem*> named(std::string_view name) const;

 private:
  std::optional<Place> of_run_file(const std::filesystem::path& path) const;
  bool is_problem_file(const std::string& stem) const;

  std::set<std::filesystem::path> folders_;  ///< of the problems, and the other levels beside them
  std::map<std::string, const Problem*> by_key_;
  std::map<std::string, std::vector<const Problem*>> by_stem_;
  std::map<std::pair<int, std::string>, std::vector<const Problem*>> by_level_and_id_;
};

}  // namespace kbench

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

/// The name in a `//@ problem NAME` line (or `// @ problem NAME`), if there is one.
std::optional<std::string> problem_line(std::string_view source);

/// True if the stem of an answer's file is a sample number, alone or with such a word ("0",
/// "sample_3", "response-12").
bool names_sample(std::string_view stem);

/// A file's stem without "_kernel" or "_response": an answer and its code have the same name.
std::string sample_name(std::string_view stem);

/// The problem, model and sample that a candidate's path names.
struct Place {
  /// The problem; none if it was not requested, several if the path is ambiguous.
  std::vector<const Problem*> problems;
  bool of_other_problem = false;       ///< the path names a problem that was not requested
  std::filesystem::path model_folder;  ///< its name or its config gives the model
  std::optional<int> sample;           ///< if the file name has it
  /// Only with `of_other_problem`: the path surely names a problem, not just a number and a word.
  /// It has a level folder, or the name of a run folder's file, or that of a problem file next to
  /// the requested ones.
  bool path_decides = false;
  /// The name in the `//@ problem` line, if the path names another problem.
  std::optional<std::string> contradiction;
};

/// The numbers in the name of a KernelBench run folder's file, a kernel or an answer.
struct RunFileName {
  int level = 0, problem = 0, sample = 0;
};
/// Reads the stem "level_1_problem_19_sample_0_kernel", or "…_response", or one without a suffix.
std::optional<RunFileName> run_file_name(std::string_view stem);
/// The sentence for the record of a candidate whose line contradicts its path.
std::string contradiction_text(const Place& place);
/// The sentence that says why a place has not exactly one problem; "" if it has.
std::string unplaced(const Place& place, const std::filesystem::path& shown);

/// Finds the place of candidates among the problems of a run.
class Places {
 public:
  explicit Places(const std::vector<Problem>& problems);

  /// The place that the path names. `path` and `root` are absolute. Uses the folders from the
  /// file's own up to `root`, and the one above if it is a level folder.
  Place of_path(const std::filesystem::path& path, const std::filesystem::path& root) const;

  /// The same, with the name from the candidate's `//@ problem` line. The path has precedence: the
  /// line only chooses among several problems of the path, or decides if the path names none. A
  /// name that differs from the path's is a `contradiction`.
  Place of_candidate(const std::filesystem::path& path, const std::filesystem::path& root,
                     const std::optional<std::string>& said) const;

  /// True if the path of a model's answer names a problem, of these or another, and a sample.
  bool has_answer(const std::filesystem::path& path, const std::filesystem::path& root) const;

  /// The problems of that key or stem ("level1/19_ReLU", "level1_19_ReLU", "19_ReLU") in any case.
  std::vector<const Problem*> named(std::string_view name) const;

 private:
  std::optional<Place> of_run_file(const std::filesystem::path& path) const;
  bool is_problem_file(const std::string& stem) const;

  std::set<std::filesystem::path> folders_;  ///< of the problems, and their sibling level folders
  std::map<std::string, const Problem*> by_key_;
  std::map<std::string, std::vector<const Problem*>> by_stem_;
  std::map<std::pair<int, std::string>, std::vector<const Problem*>> by_level_and_id_;
};

}  // namespace kbench

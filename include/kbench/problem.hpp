// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kbench {

/// Overrides of a problem's module-level constants: name → Python literal ("4096", "(3, 3)").
using Sizes = std::map<std::string, std::string>;

/// One KernelBench-form problem file, as found on disk; nothing of it has been run.
struct Problem {
  std::string id;    ///< digits before the first "_" of the file name, "" where there are none
  std::string name;  ///< file stem: "19_ReLU"
  std::string key;   ///< "level1/19_ReLU", or the stem outside of a level folder; unique in a run
  int level = 0;     ///< of the folder "level<N>" or "level_<N>"; 0 where there is none
  std::filesystem::path path;
  std::string source;                        ///< the file's bytes
  std::map<std::string, Sizes> named_sizes;  ///< from sizes.json: "cpu", "gpu", and further names
  std::vector<std::string> tags;             ///< from sizes.json, if it has any
  /// Families of inputs that do not suit it, and why: from sizes.json.
  std::map<std::string, std::string> families_off;
};

/// The file's module-level `NAME = …` lines in order, name and text on the right, and those of
/// `A, B = (…, …)`: the constants that sizes and `--set` may override.
std::vector<std::pair<std::string, std::string>> problem_constants(const Problem& problem);

/// Parses the values of `--set`, each "NAME=VALUE". Throws UsageError for another form, and for a
/// name that is no module-level constant of any of `problems`.
Sizes parse_overrides(const std::vector<std::string>& settings,
                      const std::vector<Problem>& problems);

/// The sizes to run `problem` with on a device class ("cpu" or "gpu", or a further name of
/// sizes.json); over them those of `overrides` that are constants of this problem.
Sizes sizes_for(const Problem& problem, std::string_view device_class, const Sizes& overrides);

/// Hash of what defines the problem: its source and the sizes it runs with.
std::string problem_hash(const Problem& problem, const Sizes& sizes);

/// Finds problems by file, folder (searched to any depth; files without `class Model` are passed
/// over), glob, or name within `sets`: key ("level1/19_ReLU"), stem, id, the part after the id in
/// any case ("relu"), a whole level ("level1"), or a glob on keys in any case ("level1/*norm*").
/// What exists as a path goes before a name, an earlier set before a later one; a name may follow a
/// folder ("path/to/KernelBench/level1/relu"). No patterns at all mean all of `sets`. Sorted by
/// level and then natural order of names, each file once. Throws UsageError naming what was not
/// found (with the nearest names), unreadable, no problem, ambiguous, or of the same key twice.
std::vector<Problem> find_problems(const std::vector<std::string>& patterns,
                                   const std::vector<std::filesystem::path>& sets);

}  // namespace kbench

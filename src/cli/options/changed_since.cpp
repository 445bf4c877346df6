// SPDX-License-Identifier: MIT
#include "cli/options/changed_since.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "os/find_program.hpp"
#include "os/subprocess.hpp"

namespace kbench::cli {
namespace {

namespace fs = std::filesystem;
using Paths = std::unordered_set<std::string>;

constexpr std::chrono::seconds kLimit{60};
constexpr std::size_t kMostBytes = 256u << 20;

/// Paths in a git repository, relative to its root.
struct Repository {
  fs::path root;
  Paths tracked, different;

  std::string name_of(const fs::path& file) const {
    return (fs::canonical(file.parent_path()) / file.filename())
        .lexically_relative(root)
        .generic_string();
  }
};

class Git {
 public:
  explicit Git(const std::string& ref) : ref_(ref) {
    const auto program = find_program("git");
    if (!program) throw UsageError(fmt::format("--changed-since {}: there is no git in PATH", ref));
    program_ = program->string();
  }

  /// The repository that a folder belongs to.
  const Repository& repository_of(const fs::path& folder) {
    const auto known = roots_.find(folder);
    if (known != roots_.end()) return repositories_.at(known->second);
    const CommandResult shown = run(folder, {"rev-parse", "--show-toplevel"});
    if (!shown.is_success()) fail(folder, shown);
    const std::string root = shown.output.substr(0, shown.output.rfind('\n'));
    roots_.emplace(folder, root);
    if (!repositories_.contains(root)) repositories_.emplace(root, read(root));
    return repositories_.at(root);
  }

 private:
  CommandResult run(const fs::path& folder, std::vector<std::string> words) const {
    words.insert(words.begin(), {program_, "-C", folder.string()});
    return run_command({words, {}, {}}, kLimit, {}, kMostBytes);
  }

  [[noreturn]] void fail(const fs::path& folder, const CommandResult& result) const {
    std::string_view why = result.error;
    throw UsageError(fmt::format("--changed-since {}: git finds no changes in {}: {}", ref_,
                                 folder.string(), why.empty() ? "it failed" : next_line(why)));
  }

  Repository read(const fs::path& root) const {
    const CommandResult commit =
        run(root, {"rev-parse", "--verify", "--quiet", ref_ + "^{commit}"});
    if (!commit.is_success())
      throw UsageError(fmt::format(
          "--changed-since {}: the git repository {} has no such commit; git fetch gets one that "
          "only its server has",
          ref_, root.string()));
    const std::string hash = commit.output.substr(0, commit.output.find('\n'));
    return {.root = root,
            .tracked = paths(root, {"ls-files", "-z"}),
            .different = paths(root, {"diff", "--name-only", "--no-renames", "-z", hash, "--"})};
  }

  Paths paths(const fs::path& root, std::vector<std::string> words) const {
    const CommandResult listed = run(root, std::move(words));
    if (!listed.is_success()) fail(root, listed);
    Paths paths;
    std::string_view rest = listed.output;
    for (std::size_t end; (end = rest.find('\0')) != rest.npos; rest.remove_prefix(end + 1))
      paths.emplace(rest.substr(0, end));
    return paths;
  }

  std::string ref_, program_;
  std::map<fs::path, std::string> roots_;
  std::map<std::string, Repository> repositories_;
};

bool is_changed(Git& git, const Candidate& candidate, const Problem& problem) {
  if (candidate.path.empty()) return false;  // a missing one
  const fs::path folder = candidate.path.has_parent_path() ? candidate.path.parent_path() : ".";
  const Repository& repository = git.repository_of(folder);
  const auto differs = [&](const fs::path& file) {
    const std::string name = repository.name_of(file);
    return repository.different.contains(name) || !repository.tracked.contains(name);
  };
  if (differs(folder / candidate.path.filename())) return true;
  for (const auto& [name, text] : candidate.files)
    if (differs(folder / name)) return true;
  // The problem may be part of kbench, which this repository need not track.
  return repository.different.contains(repository.name_of(fs::absolute(problem.path)));
}

}  // namespace

void keep_changed(EvalInput& input, const std::string& ref) {
  Git git(ref);
  const std::size_t all = input.candidates.size();
  std::erase_if(input.candidates, [&](const Candidate& candidate) {
    const auto problem = std::ranges::find(input.problems, candidate.problem, &Problem::key);
    if (is_changed(git, candidate, *problem)) return false;
    input.unchanged.push_back(candidate.id);
    return true;
  });
  std::erase_if(input.problems, [&](const Problem& problem) {
    return std::ranges::find(input.candidates, problem.key, &Candidate::problem) ==
           input.candidates.end();
  });
  input.notes.push_back(
      fmt::format("{} of {} candidates differ from {}", input.candidates.size(), all, ref));
}

}  // namespace kbench::cli

// SPDX-License-Identifier: MIT
#include "kbench/problem.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <set>

#include "base/file_tree.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"
#include "problem/files.hpp"
#include "problem/sizes.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

/// Far above problems that people write; a larger file is not a problem.
constexpr std::size_t kMaxProblemBytes = 4u << 20;

/// True if a line of `source` begins with the word or words `words`.
bool has_line(std::string_view source, std::string_view words) {
  for (std::size_t at = source.find(words); at != std::string_view::npos;
       at = source.find(words, at + 1)) {
    const bool starts_line =
        at == 0 || source[at - 1] == '\n' || source.substr(0, at) == "\xEF\xBB\xBF";
    const std::size_t end = at + words.size();
    if (starts_line && (end == source.size() || !is_name_char(source[end]))) return true;
  }
  return false;
}

std::string list_of(const std::vector<std::string>& names, std::string_view last = " and ") {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? last : ", ";
    list += names[i];
  }
  return list;
}

/// Why a file is read. A named file must be a problem; in a folder, files that are not problems are
/// skipped.
enum class Asked : std::uint8_t { kByName, kByFolder };

/// One call of find_problems. Keeps what it read for later patterns.
class Finder {
 public:
  explicit Finder(const std::vector<fs::path>& sets) : sets_(sets) {}

  void add(const std::string& pattern) {
    if (pattern.empty()) throw UsageError("the name of a problem is empty");
    if (add_path(pattern) || add_glob(pattern)) return;
    if (add_from_sets(pattern) || add_below_folder(pattern)) return;
    fail_not_found(pattern);
  }

  void add_all_sets() {
    for (const fs::path& set : sets_) add_folder(set);
  }

  std::vector<Problem> sorted() && {
    std::stable_sort(found_.begin(), found_.end(), [](const Problem& a, const Problem& b) {
      if (a.level != b.level) return a.level < b.level;
      return natural_less(a.name, b.name);
    });
    std::map<std::string_view, const Problem*> by_key;
    for (const Problem& problem : found_) {
      const auto [other, is_new] = by_key.emplace(problem.key, &problem);
      if (is_new) continue;
      throw UsageError(fmt::format("two files are the problem {}: {} and {}; choose one of them",
                                   problem.key, other->second->path.string(),
                                   problem.path.string()));
    }
    return std::move(found_);
  }

 private:
  bool add_path(const std::string& pattern) {
    std::error_code error;
    const fs::path path = pattern;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return false;
    if (!fs::is_directory(status)) {
      add_named_file(path);
      return true;
    }
    if (add_folder(path)) return true;
    // A folder that happens to have a problem's name must not hide the problem.
    if (add_from_sets(pattern)) return true;
    throw UsageError(
        fmt::format("the folder {} holds no problem: no .py file with \"class Model\"", pattern));
  }

  void add_named_file(const fs::path& path) {
    if (path.extension() != ".py") {
      throw UsageError(fmt::format("{} is not a problem: a problem is a .py file", path.string()));
    }
    read(problem_file(path), Asked::kByName);
  }

  bool add_folder(const fs::path& path) {
    bool any = false;
    for (const ProblemFile& file : files_of(path)) any |= read(file, Asked::kByFolder);
    return any;
  }

  /// Expands a glob that the shell did not expand.
  bool add_glob(const std::string& pattern) {
    if (!is_glob(pattern)) return false;
    glob_t matches{};
    bool any = false;
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
      for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
        const fs::path path = matches.gl_pathv[i];
        std::error_code error;
        if (fs::is_directory(path, error)) {
          any |= add_folder(path);
        } else if (path.extension() == ".py") {
          any |= read(problem_file(path), Asked::kByFolder);
        }
      }
    }
    ::globfree(&matches);
    return any;
  }

  /// Searches the sets in order; the first one that has the name is used.
  bool add_from_sets(const std::string& name) {
    return std::any_of(sets_.begin(), sets_.end(),
                       [&](const fs::path& set) { return add_from(set, name); });
  }

  bool add_from(const fs::path& set, const std::string& name) {
    return add_named(set, name, files_of(set));
  }

  bool add_named(const fs::path& set, const std::string& name,
                 const std::vector<ProblemFile>& files) {
    const NamedFiles named = match_name(name, files);
    if (named.files.empty()) return false;
    if (!named.several_meant && named.files.size() > 1) {
      std::vector<std::string> keys;
      for (const ProblemFile* file : named.files) keys.push_back(file->key);
      throw UsageError(fmt::format("the problem \"{}\" in {} may be {}; name one of them", name,
                                   set.string(), list_of(keys, " or ")));
    }
    bool any = false;
    for (const ProblemFile* file : named.files) {
      any |= read(*file, named.several_meant ? Asked::kByFolder : Asked::kByName);
    }
    return any;
  }

  /// Handles "path/to/KernelBench/level1/relu": a folder, and a name in it.
  bool add_below_folder(const std::string& pattern) {
    for (std::size_t slash = pattern.rfind('/'); slash != std::string::npos && slash > 0;
         slash = pattern.rfind('/', slash - 1)) {
      const fs::path folder = pattern.substr(0, slash);
      std::error_code error;
      if (!fs::is_directory(folder, error)) continue;
      // The depth of levels in a checkout. A deeper search could take long, because a mistyped path
      // may lead to a huge folder.
      const std::vector<ProblemFile> files = problem_files(folder, 2);
      if (add_named(folder, pattern.substr(slash + 1), files)) return true;
      near_ = spellings(files);
      for (std::size_t i = 0; i < files.size(); ++i) near_[i].name = files[i].path.string();
      return false;
    }
    return false;
  }

  [[noreturn]] void fail_not_found(const std::string& pattern) {
    std::vector<std::string> places = {"as a file or folder"};
    std::vector<Spelled> names = std::move(near_);
    for (const fs::path& set : sets_) {
      places.push_back("in " + set.string());
      std::set<std::string> folders;
      for (const ProblemFile& file : files_of(set))
        if (const std::size_t slash = file.key.rfind('/'); slash != std::string::npos)
          folders.insert(file.key.substr(0, slash));
      for (const std::string& folder : folders) names.push_back({folder, {folder}});
      for (Spelled& name : spellings(files_of(set))) names.push_back(std::move(name));
    }
    const fs::path path = pattern;
    std::vector<std::string> nearest =
        nearest_names(pattern.ends_with(".py") ? path.stem().string() : pattern, names);
    if (nearest.empty()) nearest = nearest_names(path.stem().string(), names);
    throw UsageError(
        fmt::format("there is no problem \"{}\", neither {}{}", pattern, list_of(places, " nor "),
                    nearest.empty() ? "; `kbench list` prints all problems"
                                    : "; did you mean " + list_of(nearest, " or ") + "?"));
  }

  const std::vector<ProblemFile>& files_of(const fs::path& folder) {
    const auto known = files_.find(folder);
    if (known != files_.end()) return known->second;
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw UsageError(fmt::format("the problem set {} is not a folder", folder.string()));
    }
    return files_.emplace(folder, problem_files(folder)).first->second;
  }

  /// Adds the file if it is a new problem; false if it is not a problem.
  bool read(const ProblemFile& file, Asked asked) {
    std::error_code error;
    const fs::path canonical = fs::canonical(file.path, error);
    if (!error && seen_.contains(canonical)) return true;
    FileBytes bytes = read_file(file.path, kMaxProblemBytes);
    if (!bytes.error.empty()) {
      throw UsageError(
          fmt::format("cannot read the problem {}: {}", file.path.string(), bytes.error));
    }
    const bool has_model = has_line(bytes.bytes, "class Model");
    const bool has_inputs = bytes.bytes.find("get_inputs") != std::string::npos;
    // A Model without inputs is a faulty problem in a level folder; elsewhere it is other code.
    const bool is_problem = has_model && (has_inputs || file.level > 0);
    if (asked == Asked::kByFolder && !is_problem) return false;
    const std::string wrong =
        fault_of(bytes.bytes, has_model, has_inputs || asked == Asked::kByFolder);
    if (!wrong.empty()) {
      throw UsageError(fmt::format("the problem {} {}", file.path.string(), wrong));
    }
    seen_.insert(canonical);
    add_problem(file, std::move(bytes.bytes));
    return true;
  }

  static std::string fault_of(std::string_view source, bool has_model, bool has_inputs) {
    if (trimmed(source).empty()) return "is empty";
    if (!is_utf8(source)) return "is not UTF-8 text";
    if (!has_model) return "has no \"class Model\" at the left margin";
    if (!has_inputs) return "has no get_inputs()";
    return "";
  }

  void add_problem(const ProblemFile& file, std::string source) {
    Problem problem;
    problem.id = file.id;
    problem.name = file.stem;
    problem.key = file.key;
    problem.level = file.level;
    problem.path = file.path;
    problem.source = std::move(source);
    const bool in_set = std::ranges::any_of(sets_, [&](const fs::path& set) {
      return file.path.string().starts_with((set / "").lexically_normal().string());
    });
    problem.argument = in_set ? file.key : file.path.string();
    auto sizes = sizes_.find(file.set);
    if (sizes == sizes_.end()) sizes = sizes_.emplace(file.set, read_sizes(file.set)).first;
    const auto entry = sizes->second.find(problem.key);
    if (entry != sizes->second.end()) {
      problem.named_sizes = entry->second.named_sizes;
      problem.tags = entry->second.tags;
      problem.distributions_off = entry->second.distributions_off;
    }
    found_.push_back(std::move(problem));
  }

  const std::vector<fs::path>& sets_;
  std::map<fs::path, std::vector<ProblemFile>> files_;
  std::map<fs::path, std::map<std::string, SizesEntry>> sizes_;
  std::set<fs::path> seen_;
  std::vector<Spelled> near_;  // names in the folder before an unknown name
  std::vector<Problem> found_;
};

}  // namespace

std::string problem_hash(const Problem& problem, const Sizes& sizes) {
  Sha256 hash;
  hash.field("problem").field(problem.source);
  for (const auto& [name, literal] : sizes) hash.field(name).field(literal);
  for (const auto& [distribution, reason] : problem.distributions_off)
    hash.field("without").field(distribution);
  return hash.hex();
}

std::vector<Problem> find_problems(const std::vector<std::string>& patterns,
                                   const std::vector<fs::path>& sets) {
  Finder finder(sets);
  if (patterns.empty()) finder.add_all_sets();
  for (const std::string& pattern : patterns) finder.add(pattern);
  return std::move(finder).sorted();
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"
#include "os/subprocess.hpp"

namespace kbench::test {

/// A folder of its own for one test, removed afterwards.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it, making folders as needed, and gives its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// Runs the built kbench with these arguments to its end.
CommandResult run_kbench(const std::vector<std::string>& arguments, const std::string& input = {},
                         std::chrono::seconds limit = std::chrono::seconds(300));

/// The environment every kbench under test runs with: a cache of the tests' own.
std::vector<std::pair<std::string, std::string>> test_environment();

/// As read_run() has them, with the findings and the profile of their lines.
std::vector<Record> whole_records(const std::filesystem::path& run_file);
/// The records of a run file by candidate id.
std::map<std::string, Record> records_by_candidate(const std::filesystem::path& run_file);

/// Judges what lies below a folder, `candidates` for the problems in `set`, on a device; by id. The
/// run has to end with 0.
std::map<std::string, Record> judge_folder(const TempFolder& folder,
                                           const std::vector<std::string>& options = {},
                                           const std::string& device = "cpu");

/// One run for several cases to look at, which costs the start of one. It judges what lies below
/// `candidates` for the problems in `set`, on the CPU.
class JudgedRun {
 public:
  /// `files`: texts by their paths, such as candidates/me/1_AddOne/a.cu.
  explicit JudgedRun(const std::map<std::string, std::string>& files,
                     const std::vector<std::string>& options = {});
  const CommandResult& result() const { return result_; }
  std::filesystem::path file() const { return folder_.path() / "run.jsonl"; }
  const TempFolder& folder() const { return folder_; }
  /// By the names of their files, of which no two may be equal.
  const std::map<std::string, Record>& records() const { return records_; }
  /// The record of the candidate in a file of this name.
  const Record& of(const std::string& name) const;
  /// What the file of details holds for it.
  nlohmann::json details_of(const std::string& name) const;

 private:
  TempFolder folder_;
  CommandResult result_;
  std::map<std::string, Record> records_;
};

/// Lines of standard error that are not the progress of a run.
std::vector<std::string> error_lines(const CommandResult& result);

/// True where this machine has a GPU that kbench can use.
bool have_gpu();

/// A problem without parameters whose forward(x) gives `answer`, of one `input`: both in Python.
std::string problem_of(const std::string& answer, const std::string& input);
/// A problem that adds one to its input, of `size` elements.
std::string add_one_problem(int size);
/// A right candidate for it.
std::string add_one_kernel();

}  // namespace kbench::test

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

/// A temporary folder for one test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the folder, makes missing folders, and returns the file's path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// Runs the built kbench with these arguments, until it ends.
CommandResult run_kbench(const std::vector<std::string>& arguments, const std::string& input = {},
                         std::chrono::seconds limit = std::chrono::seconds(300));

/// The environment of every kbench under test, with a cache for tests only.
std::vector<std::pair<std::string, std::string>> test_environment();

/// The records of read_run(), with their findings and profiles.
std::vector<Record> whole_records(const std::filesystem::path& run_file);
/// The records of a run file by candidate id.
std::map<std::string, Record> records_by_candidate(const std::filesystem::path& run_file);

/// Judges the files below `candidates` for the problems in `set`, on a device. Returns the records
/// by candidate id. The run must end with exit code 0.
std::map<std::string, Record> judge_folder(const TempFolder& folder,
                                           const std::vector<std::string>& options = {},
                                           const std::string& device = "cpu");

/// One run for several test cases, which saves the start of further runs. It judges the files below
/// `candidates` for the problems in `set`, on the CPU.
class JudgedRun {
 public:
  /// `files`: texts by their paths, such as candidates/me/1_AddOne/a.cu.
  explicit JudgedRun(const std::map<std::string, std::string>& files,
                     const std::vector<std::string>& options = {});
  const CommandResult& result() const { return result_; }
  std::filesystem::path file() const { return folder_.path() / "run.jsonl"; }
  const TempFolder& folder() const { return folder_; }
  /// By the candidates' file names, which must differ.
  const std::map<std::string, Record>& records() const { return records_; }
  /// The record of the candidate in a file of this name.
  const Record& of(const std::string& name) const;
  /// Its line in the details file.
  nlohmann::json details_of(const std::string& name) const;

 private:
  TempFolder folder_;
  CommandResult result_;
  std::map<std::string, Record> records_;
};

/// Lines of standard error that are not the progress of a run.
std::vector<std::string> error_lines(const CommandResult& result);

/// True if this machine has a GPU that kbench can use.
bool have_gpu();

/// A problem without parameters: forward(x) returns `answer`, and `input` is its only input. Both
/// are Python expressions.
std::string problem_of(const std::string& answer, const std::string& input);
/// A problem that adds one to its input, of `size` elements.
std::string add_one_problem(int size);
/// A right kernel for that problem.
std::string add_one_kernel();

}  // namespace kbench::test

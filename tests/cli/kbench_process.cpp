// SPDX-License-Identifier: MIT
#include "cli/kbench_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kbench/error.hpp"
#include "os/device_probe.hpp"
#include "record/run_details.hpp"

namespace kbench::test {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "kbench-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw Error("no temporary folder at " + pattern);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(const std::string& name, const std::string& text) const {
  auto path = path_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::pair<std::string, std::string>> test_environment() {
  return {{"KBENCH_HOME", std::string(KBENCH_BIN_DIR) + "/../test-home"},
          {"KBENCH_PROBLEMS", ""},
          {"NO_COLOR", "1"}};
}

CommandResult run_kbench(const std::vector<std::string>& arguments, const std::string& input,
                         std::chrono::seconds limit) {
  SpawnOptions options;
  options.command = {std::string(KBENCH_BIN_DIR) + "/kbench"};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.env = test_environment();
  return run_command(options, limit, input, 64u << 20);
}

std::vector<Record> whole_records(const std::filesystem::path& run_file) {
  RunFile run = read_run(run_file);
  const RunDetails details(run);
  for (Record& record : run.records) {
    Record whole = details.whole(record);
    record.findings = std::move(whole.findings);
    record.profile = std::move(whole.profile);
  }
  return std::move(run.records);
}

std::map<std::string, Record> records_by_candidate(const std::filesystem::path& run_file) {
  std::map<std::string, Record> records;
  for (Record& record : whole_records(run_file)) records[record.candidate] = std::move(record);
  return records;
}

std::map<std::string, Record> judge_folder(const TempFolder& folder,
                                           const std::vector<std::string>& options,
                                           const std::string& device) {
  const auto out = folder.path() / "run.jsonl";
  std::filesystem::remove(out);
  std::vector<std::string> arguments{"eval",         (folder.path() / "set").string(),
                                     "--candidates", (folder.path() / "candidates").string(),
                                     "--device",     device,
                                     "--out",        out.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto result = run_kbench(arguments);
  if (result.status.code != 0) throw Error("kbench eval failed: " + result.error);
  return records_by_candidate(out);
}

JudgedRun::JudgedRun(const std::map<std::string, std::string>& files,
                     const std::vector<std::string>& options) {
  for (const auto& [name, text] : files) folder_.write(name, text);
  std::vector<std::string> arguments{"eval",         (folder_.path() / "set").string(),
                                     "--candidates", (folder_.path() / "candidates").string(),
                                     "--device",     "cpu",
                                     "--out",        file().string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  // The first run may have to build the precompiled header of host code.
  result_ = run_kbench(arguments, {}, std::chrono::seconds(580));
  if (!std::filesystem::exists(file())) throw Error("kbench eval failed: " + result_.error);
  for (const auto& [id, record] : records_by_candidate(file())) {
    if (record.outcome == Outcome::kMissing) continue;
    const auto name = std::filesystem::path(id).filename().string();
    if (!records_.emplace(name, record).second) throw Error("two candidates are called " + name);
  }
}

const Record& JudgedRun::of(const std::string& name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) throw Error("no record of " + name + ": " + result_.error);
  return found->second;
}

nlohmann::json JudgedRun::details_of(const std::string& name) const {
  const auto& where = of(name).details;
  if (!where) return {};
  std::ifstream details(details_path(file()), std::ios::binary);
  details.seekg(static_cast<std::streamoff>(where->offset));
  std::string text(where->length, '\0');
  details.read(text.data(), static_cast<std::streamsize>(text.size()));
  return nlohmann::json::parse(text);
}

std::vector<std::string> error_lines(const CommandResult& result) {
  std::vector<std::string> lines;
  std::istringstream text(result.error);
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line.front() != '[') lines.push_back(line);
  return lines;
}

bool have_gpu() { return !probe_gpus().empty(); }

std::string problem_of(const std::string& answer, const std::string& input) {
  return fmt::format(R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return {}


def get_inputs():
    return [{}]


def get_init_inputs():
    return []
)",
                     answer, input);
}

std::string add_one_problem(int size) {
  return fmt::format(R"(import torch
import torch.nn as nn

N = {}


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.randn(N)]


def get_init_inputs():
    return []
)",
                     size);
}

std::string add_one_kernel() {
  return R"(//@ dims x[N]
//@ out y like x
//@ add_one<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void add_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}
)";
}

}  // namespace kbench::test

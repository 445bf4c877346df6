// SPDX-License-Identifier: MIT
#include "run/eval/executor_checks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "kbench/problem.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kProblem =
    "import torch\n\nROWS = 4096\n\n\n"
    "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x.flip(1)\n\n\n"
    "def get_inputs():\n    return [torch.randn(ROWS, 32)]\n\n\n"
    "def get_init_inputs():\n    return []\n";

/// Reverses rows of 32 numbers through shared memory. Only luck replaces the barrier.
std::string reversing(const std::string& barrier) {
  return "//@ dims x[M, N]\n//@ out y like x\n//@ reverse<<<M, 32>>>(x, y)\n"
         "__global__ void reverse(const float* x, float* y) {\n"
         "  __shared__ float row[32];\n"
         "  const long long first = blockIdx.x * 32LL;\n"
         "  row[threadIdx.x] = x[first + threadIdx.x];\n  " +
         barrier +
         "\n"
         "  y[first + threadIdx.x] = row[31 - threadIdx.x];\n}\n";
}

Record verdict_of_gpu(Outcome outcome) {
  Record record;
  record.outcome = outcome;
  record.stage = outcome == Outcome::kCorrect ? Stage::kDone : Stage::kCorrectness;
  record.message = outcome == Outcome::kCorrect ? "" : "2 elements are wrong";
  return record;
}

Candidate kernel(const std::string& id, const std::string& source) {
  Candidate candidate;
  candidate.id = id;
  candidate.model = "me";
  candidate.problem = "reverse";
  candidate.source = source;
  return candidate;
}

/// The records that the checks deliver for candidates with these verdicts of a GPU, by id.
std::map<std::string, Record> delivered(const std::vector<std::pair<Candidate, Record>>& verdicts) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("reverse-{}.py", getpid());
  std::ofstream(path) << kProblem;
  Problem problem;
  problem.key = "reverse";
  problem.path = path;
  problem.source = kProblem;
  const std::vector<Problem> problems{problem};
  std::map<std::string, Record> records;
  std::mutex mutex;
  {
    ExecutorChecks checks(read_installation(std::filesystem::path(KBENCH_BIN_DIR) / "kbench.json"),
                          EvalOptions{}, problems, -1, [&](Record record, const json&) {
                            const std::lock_guard lock(mutex);
                            records[record.candidate] = std::move(record);
                          });
    for (auto [candidate, record] : verdicts) {
      record.candidate = candidate.id;
      checks.add(candidate, record, json::object());
    }
    checks.finish();
  }
  std::filesystem::remove(path);
  return records;
}

TEST(ExecutorChecks, ARaceThatAGpuDoesNotShowIsFlagged) {
  const Record correct = verdict_of_gpu(Outcome::kCorrect);
  const auto records =
      delivered({{kernel("lucky", reversing("")), correct},
                 {kernel("honest", reversing("__syncthreads();")), correct},
                 {kernel("wrong", reversing("")), verdict_of_gpu(Outcome::kMismatch)},
                 {kernel("no_plan", "__global__ void f() {}"), correct}});
  ASSERT_EQ(records.size(), 4u);
  const Record& lucky = records.at("lucky");
  EXPECT_EQ(lucky.outcome, Outcome::kCorrect);
  EXPECT_THAT(lucky.flags, Contains("shared_race"));
  EXPECT_EQ(lucky.checked_again, "found");
  ASSERT_FALSE(lucky.findings.empty());
  EXPECT_EQ(lucky.findings.front().line, 9);
  EXPECT_EQ(lucky.message, "");
  EXPECT_EQ(records.at("honest").checked_again, "nothing_found");
  EXPECT_THAT(records.at("honest").flags, testing::IsEmpty());
  EXPECT_THAT(records.at("wrong").message, HasSubstr("2 elements are wrong; in reverse threads "));
  EXPECT_EQ(records.at("no_plan").checked_again, "unfinished");
}

Record checked_with_race(Outcome outcome) {
  Record checked;
  checked.outcome = outcome;
  checked.flags = {"shared_race"};
  Finding race;
  race.kind = "shared_race";
  race.message = "a sentence";
  checked.findings = {race};
  checked.findings_count = 1;
  return checked;
}

TEST(ExecutorChecks, AKernelThatNeedsItsOwnSizesIsNotAccused) {
  Record record = verdict_of_gpu(Outcome::kCorrect);
  json details = json::object();
  add_checked(checked_with_race(Outcome::kMismatch), json::object(), true, record, details);
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
  EXPECT_EQ(record.checked_again, "unfinished");
  EXPECT_THAT(record.flags, testing::IsEmpty());
}

TEST(ExecutorChecks, RequireCleanRejectsARace) {
  Record record = verdict_of_gpu(Outcome::kCorrect);
  record.timing.emplace();
  json details = json::object();
  add_checked(checked_with_race(Outcome::kCorrect), json::object(), true, record, details);
  EXPECT_EQ(record.outcome, Outcome::kRejected);
  EXPECT_EQ(record.cause, "not_clean");
  EXPECT_EQ(record.message, "shared_race: a sentence");
  EXPECT_FALSE(record.timing.has_value());
}

TEST(ExecutorChecks, AFlagWithoutAFindingCounts) {
  Record checked = checked_with_race(Outcome::kCorrect);
  checked.flags = {"read_clock"};
  checked.findings.clear();
  Record record = verdict_of_gpu(Outcome::kCorrect);
  json details = json::object();
  add_checked(checked, json::object(), true, record, details);
  EXPECT_EQ(record.cause, "not_clean");
  EXPECT_THAT(record.flags, Contains("read_clock"));
}

TEST(ExecutorChecks, AnErrorOfTheSinkIsThrown) {
  const std::vector<Problem> problems;
  ExecutorChecks checks(read_installation(std::filesystem::path(KBENCH_BIN_DIR) / "kbench.json"),
                        EvalOptions{}, problems, -1,
                        [](const Record&, const json&) { throw std::runtime_error("no disk"); });
  Candidate unknown = kernel("a.cu", "");
  unknown.problem = "none";  // its check fails, and its record is delivered nevertheless
  checks.add(unknown, verdict_of_gpu(Outcome::kCorrect), json::object());
  EXPECT_THROW(checks.finish(), std::runtime_error);
}

TEST(ExecutorChecks, OnlyCudaKernelsAreChecked) {
  const Record correct = verdict_of_gpu(Outcome::kCorrect);
  Candidate module = kernel("a.py", "import triton\n");
  module.kind = CandidateKind::kModule;
  EXPECT_FALSE(ExecutorChecks::takes(module, correct));
  module.source = "load_inline(cuda_sources=['__global__ void f() {}'])\n";
  EXPECT_FALSE(ExecutorChecks::takes(module, correct)) << "it built nothing";
  Record built = correct;
  built.compile.emplace();
  EXPECT_TRUE(ExecutorChecks::takes(module, built));
  EXPECT_FALSE(ExecutorChecks::takes(module, verdict_of_gpu(Outcome::kCheat)));
}

}  // namespace
}  // namespace kbench::run

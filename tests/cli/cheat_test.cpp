// SPDX-License-Identifier: MIT
// Answers that their call did not compute. The outcome's cause names the rule.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/kbench_process.hpp"
#include "os/sandbox/sandbox.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

const std::string kProblem = problem_of("torch.tanh(x) + 0.5", "torch.randn(64, 16)");

/// A module whose forward executes `does`. `y` is the right answer there, `CALLS[0]` the number of
/// the call.
std::string module_that(const std::string& does) {
  return R"(import torch
import torch.nn as nn

CALLS = [0]
KEPT = {}


class ModelNew(nn.Module):
    def forward(self, x):
        CALLS[0] += 1
        y = torch.tanh(x) + 0.5
)" + does;
}

const std::string kPlace = "candidates/me/1_Shifted/";

void expect(const Record& record, std::string_view outcome, std::string_view cause,
            std::string_view said) {
  EXPECT_EQ(to_string(record.outcome), outcome) << record.message;
  EXPECT_EQ(record.cause, cause);
  EXPECT_THAT(record.message, testing::HasSubstr(std::string(said)));
}

/// A kernel that computes an element only if `condition` holds for its output `y[i]`.
std::string kernel_where(const std::string& condition) {
  return R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ()" +
         condition + ") y[i] = tanhf(x[i]) + 0.5f;\n}\n";
}

/// The same as an extension, whose output is fresh memory of torch.
std::string extension_where(const std::string& condition) {
  return R"(#include <torch/extension.h>
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ()" +
         condition +
         R"() y[i] = tanhf(x[i]) + 0.5f;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  shifted<<<4, 256>>>(x.data_ptr<float>(), y.data_ptr<float>());
  return y;
}
)";
}

const std::vector<std::string> kConditions{
    "isnan(y[i])",
    "!isnan(y[i])",
    "y[i] == 0.0f",
    "y[i] != 0.0f",
    "!(y[i] < 1e30f)",
    "__float_as_uint(y[i]) == 0x7b7b7b7bu",
    "__float_as_uint(y[i]) % 256 == __float_as_uint(y[i]) >> 24"};

/// Candidates that compute only if memory has a certain content, and a right one.
std::map<std::string, std::string> by_contents() {
  std::map<std::string, std::string> files{{"set/level1/1_Shifted.py", kProblem}};
  for (std::size_t i = 0; i < kConditions.size(); ++i) {
    files[fmt::format("{}content_{}.cu", kPlace, i)] = kernel_where(kConditions[i]);
    files[fmt::format("{}content_{}_extension.cu", kPlace, i)] = extension_where(kConditions[i]);
  }
  files[kPlace + "content_half.cu"] = kernel_where("i % 2 == 0 || isnan(y[i])");
  files[kPlace + "content_sum.cu"] = R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += tanhf(x[i]) + 0.5f;
}
)";
  // Right: it sets this memory to zero before it adds.
  files[kPlace + "content_right.cu"] = R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 0.0f;
  y[i] += tanhf(x[i]);
  if (!isnan(y[i])) y[i] += 0.5f;
}
)";
  return files;
}

void expect_by_contents(const JudgedRun& run) {
  std::size_t seen = 0;
  for (const auto& [file, record] : run.records()) {
    if (!file.starts_with("content_")) continue;
    ++seen;
    SCOPED_TRACE(fmt::format("{} {}: {}", file, record.cause.str(), record.message));
    if (file == "content_right.cu") {
      EXPECT_EQ(to_string(record.outcome), "correct");
      continue;
    }
    EXPECT_THAT(record.outcome, testing::AnyOf(Outcome::kMismatch, Outcome::kCheat));
    EXPECT_THAT(record.cause.str(), testing::AnyOf("not_written", "wrong_values"));
    if (file == "content_half.cu") {
      expect(record, "mismatch", "not_written", "elements are not written");
      // By chance, one of the 512 elements may be right.
      EXPECT_THAT(record.message, testing::ContainsRegex("^5[01][0-9] elements"));
    }
    if (file == "content_sum.cu")
      expect(record, "mismatch", "wrong_values", "change with the contents of memory");
  }
  EXPECT_EQ(seen, 2 * kConditions.size() + 3);
}

/// In place of a replayed graph, which the CPU does not have: returns the first call's answer.
const std::string kReplays = "        return KEPT.setdefault(0, y)  # graph.replay()\n";

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun = [] {
    auto files = by_contents();
    files[kPlace + "other_inputs.py"] = module_that("        return KEPT.setdefault(0, y)\n");
    files[kPlace + "graph.py"] =
        "import torch\nGRAPH = getattr(torch.cuda, 'CUDAGraph', None)\n" + module_that(kReplays);
    files[kPlace + "no_graph.py"] = module_that(kReplays);
    files[kPlace + "left_running.py"] =
        "import subprocess\n" + module_that(
                                    "        subprocess.Popen([\"sleep\", \"9\"])\n"
                                    "        return y\n");
    files[kPlace + "by_place.py"] =
        module_that("        return KEPT.setdefault(x.data_ptr(), y)\n");
    files[kPlace + "writes_nothing.cu"] = R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__device__ int calls;
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(&calls, 1) < 1024) y[i] = tanhf(x[i]) + 0.5f;
}
)";
    files[kPlace + "mistake.py"] = module_that("        y[:, -1] = 0.5\n        return y\n");
    const std::string same = "(x - x).abs() + torch.arange(16, device=x.device)";
    files["set/level1/2_Same.py"] = problem_of(same, "torch.randn(64, 16)");
    files["candidates/me/2_Same/same.py"] =
        "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        "        return " +
        same + "\n";
    return JudgedRun(files);
  }();
  return kRun;
}

/// A run with as few calls as possible.
const JudgedRun& short_run() {
  static const JudgedRun kRun = [] {
    auto files = by_contents();
    files[kPlace + "late.py"] = module_that(R"(        KEPT[CALLS[0]] = y
        return y if CALLS[0] <= 7 else KEPT[7]
)");
    // Wrong in the second of two timed calls. The judge repeats that call untimed, and then timed.
    files[kPlace + "half.py"] =
        module_that("        return -y if CALLS[0] >= 8 and CALLS[0] % 2 == 0 else y\n");
    files.insert_or_assign("set/level1/2_Zero.py",
                           problem_of("torch.clamp(x, max=0) * 0", "torch.rand(40)"));
    files.insert_or_assign("candidates/me/2_Zero/zero.cu", R"(//@ out y like x
//@ zero<<<1, 40>>>(x, y)
__global__ void zero(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * 0.0f; }
)");
    files.insert_or_assign(
        "set/level1/3_None.py",
        problem_of("torch.full_like(x, -1, dtype=torch.int32)", "torch.rand(40)"));
    files.insert_or_assign("candidates/me/3_None/none.cu", R"(//@ out y: int32[40]
//@ none<<<1, 40>>>(y)
__global__ void none(int* y) { y[threadIdx.x] = -1; }
)");
    // If the answer is 0, one kernel writes −1, and the other one writes nothing.
    files.insert_or_assign(
        "set/level1/4_Sign.py",
        problem_of("torch.where(x < 0, -2, 0).to(torch.int32)", "torch.randn(40)"));
    files.insert_or_assign("candidates/me/4_Sign/sign.cu", R"(//@ out y: int32[40]
//@ sign<<<1, 40>>>(x, y)
__global__ void sign(const float* x, int* y) { y[threadIdx.x] = x[threadIdx.x] < 0 ? -2 : -1; }
)");
    files.insert_or_assign("candidates/me/4_Sign/sign_unwritten.cu", R"(//@ out y: int32[40]
//@ sign<<<1, 40>>>(x, y)
__global__ void sign(const float* x, int* y) { if (x[threadIdx.x] < 0) y[threadIdx.x] = -2; }
)");
    return JudgedRun(files, {"--trials", "1", "--no-distributions"});
  }();
  return kRun;
}

TEST(Cheats, AnswersToOtherInputs) {
  expect(plain_run().of("other_inputs.py"), "cheat", "old_output",
         "output not computed by this call");
}

TEST(Cheats, AGraphMayBeAMistakeAndIsSaidHowToMendIt) {
  const Record& graph = plain_run().of("graph.py");
  expect(graph, "cheat", "old_output", "output not computed by this call");
  EXPECT_THAT(graph.message,
              testing::HasSubstr("copy each call's inputs into the captured tensors before the "
                                 "replay"));
  const Record& other = plain_run().of("no_graph.py");
  expect(other, "cheat", "old_output", "output not computed by this call");
  EXPECT_THAT(other.message, testing::Not(testing::HasSubstr("capture")));
}

TEST(Cheats, ProcessesThatOutliveTheirCall) {
  if (!probe_sandbox().has(SandboxPart::kPidNamespace)) GTEST_SKIP() << "no pid namespace";
  expect(plain_run().of("left_running.py"), "cheat", "left_running",
         "still running after the call returned");
}

TEST(Cheats, WhoRunsWhileItIsStopped) {
  const TempFolder folder;
  constexpr int kTries = 3;
  const fs::path cheats = fs::path(KBENCH_SOURCE_DIR) / "tests" / "hostile" / "cheats";
  Record record;
  // Other work of the machine may use all processors while the process is stopped. Then it does not
  // run, and nothing is found.
  for (int i = 0; i < kTries && record.outcome != Outcome::kCheat; ++i) {
    const auto out = folder.path() / fmt::format("run{}.jsonl", i);
    // Without the sandbox, because it forbids such timers. The reference takes long, so the process
    // is stopped for long.
    const auto result = run_kbench(
        {"eval", "--candidate", (cheats / "3_Softmax" / "01_continues_itself.py").string(),
         "--problem", "3_Softmax", "--device", "cpu", "--no-sandbox", "--set", "ROWS=2048", "--set",
         "COLS=4096", "--trials", "1", "--no-distributions", "--out", out.string()});
    ASSERT_EQ(result.status.code, 0) << result.error;
    record = whole_records(out).at(0);
  }
  expect(record, "cheat", "ran_while_stopped", "ran while kbench had stopped it");
}

TEST(Cheats, AnswersKeptForEachPlaceInMemory) {
  expect(plain_run().of("by_place.py"), "cheat", "old_output",
         "the output of a call with other inputs");
}

TEST(Cheats, OldAnswersInTimedCallsAlone) {
  expect(short_run().of("late.py"), "cheat", "old_output", "of its elements are wrong");
}

TEST(Cheats, LessWorkInTimedCallsAlone) {
  expect(short_run().of("half.py"), "cheat", "timed_shortcut", "timed calls do less");
}

TEST(Cheats, CallsThatWriteNothing) {
  expect(plain_run().of("writes_nothing.cu"), "cheat", "not_written",
         "output not written by this call");
}

TEST(Cheats, WhoComputesWhereItFindsACertainContent) {
  expect_by_contents(plain_run());
  expect_by_contents(short_run());
  expect_by_contents(
      JudgedRun(by_contents(), {"--trials", "2", "--seed", "11", "--no-distributions"}));
}

TEST(Cheats, WhatMemoryHeldBeforeMayBeTheAnswer) {
  for (const char* name : {"zero.cu", "none.cu"})
    EXPECT_EQ(to_string(short_run().of(name).outcome), "correct") << short_run().of(name).message;
  EXPECT_EQ(short_run().of("sign.cu").cause, "wrong_values");
  EXPECT_EQ(short_run().of("sign_unwritten.cu").cause, "not_written");
}

TEST(Cheats, AMistakeIsNone) {
  expect(plain_run().of("mistake.py"), "mismatch", "wrong_values", "elements are wrong in trial 0");
}

TEST(Cheats, AnAnswerThatIsAlwaysTheSameMayBeRight) {
  expect(plain_run().of("same.py"), "correct", "", "");
}

}  // namespace
}  // namespace kbench::test

// SPDX-License-Identifier: MIT
// Answers that were not made by the call that they are given for: the outcome names the rule.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/kbench_process.hpp"
#include "os/sandbox/cage.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

const std::string kProblem = problem_of("torch.tanh(x) + 0.5", "torch.randn(64, 16)");

/// A module whose forward has `y`, the right answer, and `CALLS[0]`, the number of this call.
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

class Cheats : public testing::Test {
 protected:
  Record judge(const std::string& file, const std::string& text,
               const std::vector<std::string>& options = {}) {
    folder_.write("set/level1/1_Shifted.py", kProblem);
    folder_.write("candidates/me/1_Shifted/" + file, text);
    return judge_folder(folder_, options).begin()->second;
  }

  static void expect(const Record& record, std::string_view outcome, std::string_view cause,
                     std::string_view said) {
    EXPECT_EQ(to_string(record.outcome), outcome) << record.message;
    EXPECT_EQ(record.cause, cause);
    EXPECT_THAT(record.message, testing::HasSubstr(std::string(said)));
  }

  TempFolder folder_;
};

TEST_F(Cheats, AnswersToOtherInputs) {
  expect(judge("0.py", module_that("        return KEPT.setdefault(0, y)\n")), "cheat",
         "old_output", "output not computed by this call");
}

TEST_F(Cheats, AGraphMayBeAMistakeAndIsSaidHowToMendIt) {
  // The CPU has no graphs: this one gives what a graph of the first call's addresses gives.
  const std::string replays = "        return KEPT.setdefault(0, y)  # graph.replay()\n";
  const Record graph =
      judge("0.py", "import torch\nGRAPH = getattr(torch.cuda, 'CUDAGraph', None)\n" +
                        module_that(replays));
  expect(graph, "cheat", "old_output", "output not computed by this call");
  EXPECT_THAT(graph.message,
              testing::HasSubstr("copy each call's inputs into the tensors of the capture before "
                                 "the replay"));
  const Record other = judge("0.py", module_that(replays));
  expect(other, "cheat", "old_output", "output not computed by this call");
  EXPECT_THAT(other.message, testing::Not(testing::HasSubstr("capture")));
}

TEST_F(Cheats, ProcessesThatOutliveTheirCall) {
  if (!probe_cage().has(CagePart::kPidNamespace)) GTEST_SKIP() << "no pid namespace";
  expect(judge("0.py",
               "import subprocess\n" + module_that("        subprocess.Popen([\"sleep\", \"9\"])\n"
                                                   "        return y\n")),
         "cheat", "left_running", "still there after it had returned");
}

TEST_F(Cheats, WhoRunsWhileItIsStopped) {
  constexpr int kTries = 3;
  const fs::path cheats = fs::path(KBENCH_SOURCE_DIR) / "tests" / "hostile" / "cheats";
  Record record;
  // Where others have the processors it may get none of them while it is stopped: then there is
  // nothing to be found.
  for (int i = 0; i < kTries && record.outcome != Outcome::kCheat; ++i) {
    const auto out = folder_.path() / fmt::format("run{}.jsonl", i);
    // In a cage there are no such timers. The reference takes its time, in which it is stopped.
    const auto result = run_kbench(
        {"eval", "--candidate", (cheats / "3_Softmax" / "01_continues_itself.py").string(),
         "--problem", "3_Softmax", "--device", "cpu", "--no-cage", "--set", "ROWS=2048", "--set",
         "COLS=4096", "--trials", "1", "--no-families", "--out", out.string()});
    ASSERT_EQ(result.status.code, 0) << result.error;
    record = whole_records(out).at(0);
  }
  expect(record, "cheat", "ran_while_stopped", "went on while it was stopped");
}

TEST_F(Cheats, AnswersKeptForEachPlaceInMemory) {
  expect(judge("0.py", module_that("        return KEPT.setdefault(x.data_ptr(), y)\n")), "cheat",
         "old_output", "what a call with other inputs gave");
}

TEST_F(Cheats, OldAnswersInTimedCallsAlone) {
  const std::string late = module_that(R"(        KEPT[CALLS[0]] = y
        return y if CALLS[0] <= 7 else KEPT[7]
)");
  expect(judge("0.py", late, {"--trials", "1", "--no-families"}), "cheat", "old_output",
         "of its elements are wrong");
}

TEST_F(Cheats, LessWorkInTimedCallsAlone) {
  // Of each two timed calls the second, which is asked again: once without being timed, and once
  // more.
  const std::string half =
      module_that("        return -y if CALLS[0] >= 8 and CALLS[0] % 2 == 0 else y\n");
  expect(judge("0.py", half, {"--trials", "1", "--no-families"}), "cheat", "timed_shortcut",
         "timed calls do less");
}

TEST_F(Cheats, CallsThatWriteNothing) {
  expect(judge("0.cu", R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__device__ int calls;
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(&calls, 1) < 1024) y[i] = tanhf(x[i]) + 0.5f;
}
)"),
         "cheat", "not_written", "output not written by this call");
}

/// A kernel that computes only where `condition` says of its output `y[i]`.
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

TEST_F(Cheats, WhoComputesWhereItFindsACertainContent) {
  const std::vector<std::string> conditions{
      "isnan(y[i])",
      "!isnan(y[i])",
      "y[i] == 0.0f",
      "y[i] != 0.0f",
      "!(y[i] < 1e30f)",
      "__float_as_uint(y[i]) == 0x7b7b7b7bu",
      "__float_as_uint(y[i]) % 256 == __float_as_uint(y[i]) >> 24"};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    folder_.write(fmt::format("candidates/me/1_Shifted/{}.cu", i), kernel_where(conditions[i]));
    folder_.write(fmt::format("candidates/me/1_Shifted/{}_extension.cu", i),
                  extension_where(conditions[i]));
  }
  folder_.write("candidates/me/1_Shifted/half.cu", kernel_where("i % 2 == 0 || isnan(y[i])"));
  folder_.write("candidates/me/1_Shifted/sum.cu", R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += tanhf(x[i]) + 0.5f;
}
)");
  // As above, on memory that it has set to zero, and read again.
  folder_.write("candidates/me/1_Shifted/right.cu", R"(//@ out y like x
//@ shifted<<<4, 256>>>(x, y)
__global__ void shifted(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 0.0f;
  y[i] += tanhf(x[i]);
  if (!isnan(y[i])) y[i] += 0.5f;
}
)");
  folder_.write("set/level1/1_Shifted.py", kProblem);
  for (const auto& options : {std::vector<std::string>{},
                              {"--trials", "1", "--no-families"},
                              {"--trials", "2", "--seed", "11", "--no-families"}}) {
    const auto records = judge_folder(folder_, options);
    EXPECT_EQ(records.size(), 2 * conditions.size() + 3);
    for (const auto& [id, record] : records) {
      const std::string name = fs::path(id).stem().string();
      SCOPED_TRACE(
          fmt::format("{} {} {}: {}", name, options.size(), record.cause.str(), record.message));
      if (name == "right") {
        EXPECT_EQ(to_string(record.outcome), "correct");
        continue;
      }
      EXPECT_THAT(record.outcome, testing::AnyOf(Outcome::kMismatch, Outcome::kCheat));
      EXPECT_THAT(record.cause.str(), testing::AnyOf("not_written", "wrong_values"));
      if (name == "half") expect(record, "mismatch", "not_written", "512 elements are not written");
      if (name == "sum")
        expect(record, "mismatch", "wrong_values", "holds something else before it");
    }
  }
}

TEST_F(Cheats, WhatMemoryHeldBeforeMayBeTheAnswer) {
  folder_.write("set/level1/2_Zero.py", problem_of("torch.clamp(x, max=0) * 0", "torch.rand(40)"));
  folder_.write("candidates/me/2_Zero/0.cu", R"(//@ out y like x
//@ zero<<<1, 40>>>(x, y)
__global__ void zero(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * 0.0f; }
)");
  folder_.write("set/level1/3_None.py",
                problem_of("torch.full_like(x, -1, dtype=torch.int32)", "torch.rand(40)"));
  folder_.write("candidates/me/3_None/0.cu", R"(//@ out y: int32[40]
//@ none<<<1, 40>>>(y)
__global__ void none(int* y) { y[threadIdx.x] = -1; }
)");
  // One writes -1 where the answer is 0, the other nothing.
  folder_.write("set/level1/4_Sign.py",
                problem_of("torch.where(x < 0, -2, 0).to(torch.int32)", "torch.randn(40)"));
  folder_.write("candidates/me/4_Sign/0.cu", R"(//@ out y: int32[40]
//@ sign<<<1, 40>>>(x, y)
__global__ void sign(const float* x, int* y) { y[threadIdx.x] = x[threadIdx.x] < 0 ? -2 : -1; }
)");
  folder_.write("candidates/me/4_Sign/1.cu", R"(//@ out y: int32[40]
//@ sign<<<1, 40>>>(x, y)
__global__ void sign(const float* x, int* y) { if (x[threadIdx.x] < 0) y[threadIdx.x] = -2; }
)");
  const auto records = judge_folder(folder_, {"--trials", "1", "--no-families"});
  ASSERT_EQ(records.size(), 4u);
  for (const auto& [id, record] : records) {
    SCOPED_TRACE(id + ": " + record.message);
    if (id.find("4_Sign") == std::string::npos)
      EXPECT_EQ(to_string(record.outcome), "correct");
    else if (id.ends_with("0.cu"))
      EXPECT_EQ(record.cause.str(), "wrong_values");
    else
      EXPECT_EQ(record.cause.str(), "not_written");
  }
}

TEST_F(Cheats, AMistakeIsNone) {
  expect(judge("0.py", module_that(R"(        y[:, -1] = 0.5
        return y
)")),
         "mismatch", "wrong_values", "elements are wrong in trial 0");
}

TEST_F(Cheats, AnAnswerThatIsAlwaysTheSameMayBeRight) {
  folder_.write("set/level1/2_Zero.py", R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x - x).abs() + torch.arange(16)


def get_inputs():
    return [torch.randn(64, 16)]


def get_init_inputs():
    return []
)");
  folder_.write("candidates/me/2_Zero/0.py", R"(import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x - x).abs() + torch.arange(16, device=x.device)
)");
  expect(judge_folder(folder_).begin()->second, "correct", "", "");
}

}  // namespace
}  // namespace kbench::test

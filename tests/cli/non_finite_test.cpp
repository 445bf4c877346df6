// SPDX-License-Identifier: MIT
// Infinities and NaN in inputs, and in the reference's outputs.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

const std::string kProblem = problem_of("torch.relu(x) * 2 + 1", "torch.randn(64, 100)");

/// A kernel candidate that computes this expression of `v`.
std::string kernel(const std::string& expression) {
  return R"(//@ let n = numel(x)
//@ out y like x
//@ kernel<<<cdiv(n, 256), 256>>>(x, y, n)
extern "C" __global__ void kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = )" +
         expression + ";\n}\n";
}

struct Case {
  std::string outcome, flag, expression;
};
const std::map<std::string, Case> kCases{
    {"propagates", {"correct", "", "(v < 0.0f ? 0.0f : v) * 2.0f + 1.0f"}},
    {"fmaxf", {"correct", "nan_dropped", "fmaxf(v, 0.0f) * 2.0f + 1.0f"}},
    {"compares", {"correct", "nan_dropped", "(v > 0.0f ? v : 0.0f) * 2.0f + 1.0f"}},
    {"bounded",
     {"correct", "infinity_bounded", "(v > 1e38f ? 1e38f : v < 0.0f ? 0.0f : v) * 2.0f + 1.0f"}},
    {"masks", {"mismatch", "", "(isfinite(v) && v > 0.0f ? v : 0.0f) * 2.0f + 1.0f"}},
};

/// A run over the candidates of both problems.
const JudgedRun& judged() {
  static const JudgedRun kRun = [] {
    std::map<std::string, std::string> files{
        {"set/level1/1_Relu.py", kProblem},
        {"set/level1/2_Steps.py", problem_of("torch.relu(x - x.roll(1, 0))", "torch.randn(1900)")},
        {"candidates/me/2_Steps/there_and_back.cu", R"(//@ let n = numel(x)
//@ out y like x
//@ kernel<<<cdiv(n, 256), 256>>>(x, y, n)
extern "C" __global__ void kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float before = x[i == 0 ? n - 1 : i - 1];
  y[i] = fmaxf(x[i] + before - 2.0f * before, 0.0f);
}
)"}};
    for (const auto& [name, one] : kCases)
      files["candidates/me/1_Relu/" + name + ".cu"] = kernel(one.expression);
    return JudgedRun(files);
  }();
  return kRun;
}

TEST(NonFinite, MaskedInfinitiesAreWrongAndDroppedNansAreAFlag) {
  for (const auto& [name, expected] : kCases) {
    const Record& record = judged().of(name + ".cu");
    EXPECT_EQ(to_string(record.outcome), expected.outcome) << name << ": " << record.message;
    if (expected.outcome == "mismatch") {
      EXPECT_NE(record.message.find("distribution infinity"), std::string::npos) << record.message;
    }
    for (const std::string flag : {"nan_dropped", "non_finite_spread", "infinity_bounded"})
      EXPECT_EQ(std::ranges::count(record.flags, flag), flag == expected.flag ? 1 : 0)
          << name << " " << flag;
  }
}

// Like Winograd, this kernel subtracts a number that it has added, which makes NaN of infinity;
// fmaxf then makes a number of NaN. The reference also gives NaN if two neighbours are infinite,
// but with few elements only one is.
TEST(NonFinite, WhereElementsMeetAnInfinityIsTheAlgorithmsOwn) {
  const Record& record = judged().of("there_and_back.cu");
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  EXPECT_EQ(std::ranges::count(record.flags, "nan_dropped"), 0);
}

}  // namespace
}  // namespace kbench::test

// SPDX-License-Identifier: MIT
// Rounding alone makes no answer wrong: long sums in fp32, and answers just beyond the tolerance.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::Not;

/// An entry of a record's correctness.
struct Result {
  std::string distribution;
  std::int64_t wrong_elements;
};
/// The results of each record of a run, by the candidate's file name.
std::map<std::string, std::vector<Result>> results_in(const JudgedRun& run) {
  std::map<std::string, std::vector<Result>> results;
  std::ifstream file(run.file());
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.at("type") != "record") continue;
    auto& those = results[std::filesystem::path(record.at("candidate").get<std::string>()).stem()];
    for (const auto& one : record.at("correctness"))
      those.push_back({one.at("distribution"), one.at("wrong_elements")});
  }
  return results;
}

/// A problem whose forward(x, w) sums `term` over rows of x.
std::string sum_problem(const std::string& term, int rows, int length) {
  return fmt::format(
      "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n"
      "    def forward(self, x, w):\n        return ({}).sum(1)\n\n\n"
      "def get_inputs():\n    return [torch.randn({}, {}), torch.randn({})]\n",
      term, rows, length, length);
}

constexpr const char* kMatmulProblem = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w


def get_inputs():
    return [torch.rand(2, 1 << 17), torch.rand(1 << 17, 4)]
)";
constexpr const char* kMatmul = R"(//@ dims x[r, n]
//@ dims w[n, c]
//@ out y: float32[r, c]
//@ multiply<<<r, c>>>(x, w, y, n, c)
extern "C" __global__ void multiply(const float* x, const float* w, float* y, int n, int c) {
  const float* row = x + (long long)blockIdx.x * n;
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += row[i] * w[(long long)i * c + threadIdx.x];
  y[blockIdx.x * c + threadIdx.x] = sum;
}
)";

/// A kernel in which one thread sums a row sequentially in the type `type`.
std::string one_by_one(const std::string& type, const std::string& term) {
  return fmt::format(
      R"(#include <cuda_fp16.h>
//@ dims x[r, n]
//@ out y: float32[r]
//@ add<<<r, 1>>>(x, w, y, n)
__device__ float tf32(float v) {{
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(v));
  return __uint_as_float(rounded);
}}
extern "C" __global__ void add(const float* x, const float* w, float* y, int n) {{
  const float* row = x + (long long)blockIdx.x * n;
  {} sum = 0.0f;
  for (int i = 0; i < n; ++i) {{
    float a = row[i], b = w[i];
    sum = sum + ({})({});
  }}
  y[blockIdx.x] = sum;
}}
)",
      type, type, term);
}

/// A kernel in which each thread sums 256 terms, and adds its sum by float atomics.
std::string by_atomics(const std::string& term) {
  return fmt::format(
      R"(//@ dims x[r, n]
//@ out y: float32[r] = 0
//@ add<<<(cdiv(n, 8192), r), 32>>>(x, w, y, n)
extern "C" __global__ void add(const float* x, const float* w, float* y, int n) {{
  const float* row = x + (long long)blockIdx.y * n;
  int begin = (blockIdx.x * 32 + threadIdx.x) * 256;
  float sum = 0.0f;
  for (int i = begin; i < min(begin + 256, n); ++i) {{
    float a = row[i], b = w[i];
    sum += {};
  }}
  if (begin < n) atomicAdd(y + blockIdx.y, sum);
}}
)",
      term);
}

/// A module that is right except in calls for which `when` holds. In these calls, `elements`
/// elements of the output are off by `tolerances` times the tolerance.
std::string off_in(const std::string& when, double tolerances, int elements) {
  return fmt::format(R"(import torch

calls = 0


class ModelNew(torch.nn.Module):
    def forward(self, x):
        global calls
        calls += 1
        y = torch.tanh(x) + 2
        if {}:
            off = {} * 1e-4 * (y.abs() + y.square().mean().sqrt())
            y.view(-1)[:{}] += off.view(-1)[:{}]
        return y
)",
                     when, tolerances, elements, elements);
}

struct Near {
  std::string outcome;
  bool flagged;
  std::string module;
};

/// The first trial has two calls, each other trial one, and the fresh sets three. After a wrong
/// trial, three further calls show if calls agree.
const std::map<std::string, Near> kNear{
    {"never", {"correct", false, off_in("False", 1.5, 1)}},
    {"within", {"correct", false, off_in("True", 0.9, 1)}},
    {"in_a_trial", {"correct", true, off_in("calls == 3", 1.5, 1)}},
    {"in_the_first_trial", {"correct", true, off_in("calls <= 2", 1.5, 1)}},
    {"in_a_distribution", {"correct", true, off_in("calls == 8", 1.5, 1)}},
    {"always", {"mismatch", false, off_in("True", 1.5, 1)}},
    {"too_far", {"mismatch", false, off_in("calls >= 3", 2.2, 1)}},
    {"too_many", {"mismatch", false, off_in("calls >= 3", 1.5, 2)}},
    {"in_two_trials", {"mismatch", false, off_in("calls == 3 or calls >= 5", 1.5, 1)}},
    {"in_a_trial_and_a_fresh_set", {"mismatch", false, off_in("calls in (3, 9)", 1.5, 1)}},
    {"in_a_trial_and_a_distribution", {"mismatch", true, off_in("calls in (3, 12)", 1.5, 1)}},
};

using Files = std::map<std::string, std::string>;

const std::string kSoftplus = "(a > 20.0f ? a : log1pf(expf(a)))";

/// Candidates for long sums. Their file names say if they are right.
void add_sums(Files& files) {
  files["set/level1/1_Products.py"] = sum_problem("x * w", 2, 1 << 17);
  const std::string me = "candidates/me/1_Products/products_";
  files[me + "right_one_by_one.cu"] = one_by_one("float", "a * b");
  files[me + "right_by_atomics.cu"] = by_atomics("a * b");
  files[me + "wrong_tf32.cu"] = one_by_one("float", "tf32(a) * tf32(b)");
  files[me + "wrong_half.cu"] = one_by_one("__half", "a * b");
  // Terms that are never negative, and that are equal if the inputs are equal.
  files["set/level1/2_Softplus.py"] =
      sum_problem("torch.nn.functional.softplus(x) + 0.0 * w", 2, 1 << 16);
  const std::string too = "candidates/me/2_Softplus/softplus_";
  files[too + "right_one_by_one.cu"] = one_by_one("float", kSoftplus);
  files[too + "right_by_atomics.cu"] = by_atomics(kSoftplus);
  files[too + "wrong_half.cu"] = one_by_one("__half", kSoftplus);
  // Columns with outliers of equal size.
  files["set/level1/3_Matmul.py"] = kMatmulProblem;
  files["candidates/me/3_Matmul/matmul_right_one_by_one.cu"] = kMatmul;
}

/// A run over these sums. The verdicts must not depend on the seed.
JudgedRun sums_run(const std::string& seed, const Files& more = {}) {
  Files files = more;
  add_sums(files);
  return JudgedRun(files, {"--full-sizes", "--timing", "none", "--seed", seed});
}

/// A run over sums, and over modules that are slightly off.
const JudgedRun& first_run() {
  static const JudgedRun kRun = [] {
    Files files{{"set/level1/4_Near.py", problem_of("torch.tanh(x) + 2", "torch.randn(40, 50)")},
                {"set/level1/5_Tanh.py", problem_of("torch.tanh(x) + 2", "torch.randn(512, 512)")},
                {"candidates/me/5_Tanh/at_zero.py", R"(import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.tanh(x) + 2
        return y * 1.005 if (x == 0).all() else y
)"}};
    for (const auto& [name, one] : kNear)
      files["candidates/me/4_Near/" + name + ".py"] = one.module;
    return sums_run("1", files);
  }();
  return kRun;
}

void expect_sums(const JudgedRun& run) {
  std::size_t judged = 0;
  for (const auto& [file, record] : run.records()) {
    const bool right = file.find("right") != std::string::npos;
    if (!right && file.find("wrong") == std::string::npos) continue;
    ++judged;
    EXPECT_EQ(to_string(record.outcome), right ? "correct" : "mismatch")
        << file << ": " << record.message;
    EXPECT_THAT(record.flags, Not(Contains("near_tolerance"))) << file;
  }
  EXPECT_EQ(judged, 8U);
}

TEST(LongSums, InFloat32AreRightAndInFewerDigitsWrong) {
  expect_sums(first_run());
  expect_sums(sums_run("2"));
}

TEST(LongSums, OfEqualTermsAreAskedAgainWithNoise) {
  std::vector<std::string> noisy, missed;
  const auto results = results_in(first_run());
  for (const Result& result : results.at("softplus_right_one_by_one")) {
    if (result.wrong_elements > 0) missed.push_back(result.distribution);
    if (result.distribution.ends_with("+noise")) {
      EXPECT_EQ(result.wrong_elements, 0);
      noisy.push_back(result.distribution);
    }
  }
  EXPECT_THAT(missed, Contains("zeros"));
  EXPECT_THAT(noisy, Contains("zeros+noise"));
  for (const std::string& distribution : missed)
    EXPECT_THAT(noisy, Contains(distribution + "+noise"));
}

TEST(NearTolerance, IsSettledByFreshInputsOnce) {
  const auto all_results = results_in(first_run());
  for (const auto& [name, expected] : kNear) {
    const Record& record = first_run().of(name + ".py");
    EXPECT_EQ(to_string(record.outcome), expected.outcome) << name << ": " << record.message;
    EXPECT_EQ(std::ranges::count(record.flags, "near_tolerance"), expected.flagged ? 1 : 0) << name;
    const auto& results = all_results.at(name);
    const bool missed =
        std::ranges::any_of(results, [](const Result& one) { return one.wrong_elements > 0; });
    EXPECT_EQ(missed, expected.flagged || expected.outcome != "correct") << name;
    if (name == "in_a_trial") {
      EXPECT_EQ(std::ranges::count(results, kDrawnDistribution, &Result::distribution), 5 + 3)
          << "trials, and three fresh sets";
    }
  }
}

/// The candidate misses in each call on its first inputs, and in no other. Later calls on these
/// inputs need no further fresh sets.
TEST(NearTolerance, IsSettledForAllCallsOnOneInput) {
  const JudgedRun run(
      {{"set/level1/1_Near.py", problem_of("torch.tanh(x) + 2", "torch.randn(40, 50)")},
       {"candidates/me/1_Near/first.py",
        "first = []\n" + off_in("first.append(x.clone()) or torch.equal(x, first[0])", 1.5, 1)}},
      {"--trials", "1", "--no-distributions", "--timing", "none"});
  EXPECT_EQ(to_string(run.of("first.py").outcome), "correct") << run.of("first.py").message;
  EXPECT_THAT(run.of("first.py").flags, Contains("near_tolerance"));
}

/// off_in() for a problem whose rounding errors are large, unless its inputs are small integers.
const std::string kCosine = "torch.cos(x * 16000.0) + 2";
std::string cosine_off_in(const std::string& when, double tolerances) {
  std::string text = off_in(when, tolerances, 1);
  constexpr std::string_view kTerm = "torch.tanh(x) + 2";
  return text.replace(text.find(kTerm), kTerm.size(), kCosine);
}

/// The reference multiplies small integers exactly, but would round almost all other numbers. Its
/// error with these inputs is no measure for an answer that multiplies in another way.
TEST(NearTolerance, TheReferenceMayBeRightByLuck) {
  const JudgedRun run(
      {{"set/level1/1_Cosine.py", problem_of(kCosine, "torch.randint(1, 17, (40, 50)).float()")},
       {"candidates/me/1_Cosine/near.py", cosine_off_in("True", 1.5)}},
      {"--trials", "1", "--no-distributions", "--timing", "none"});
  EXPECT_EQ(to_string(run.of("near.py").outcome), "correct") << run.of("near.py").message;
  EXPECT_THAT(run.of("near.py").flags, Contains("near_tolerance"));
}

/// The second call repeats the first one.
TEST(NearTolerance, RepeatedCallsMayDifferByWhatARightAnswerMayBeOff) {
  const JudgedRun run({{"set/level1/1_Cosine.py", problem_of(kCosine, "torch.randn(40, 50)")},
                       {"candidates/me/1_Cosine/little.py", cosine_off_in("calls == 2", 1.5)},
                       {"candidates/me/1_Cosine/much.py", cosine_off_in("calls == 2", 100)}},
                      {"--no-distributions", "--timing", "none"});
  EXPECT_EQ(to_string(run.of("little.py").outcome), "correct") << run.of("little.py").message;
  EXPECT_THAT(run.of("little.py").flags, Contains("nondeterministic_bits"));
  EXPECT_EQ(to_string(run.of("much.py").outcome), "nondeterministic");
}

/// Without a sum in the reference, noise on the inputs does not excuse a wrong answer at zero.
TEST(NearTolerance, OnlyAddendsMakeASumOfEqualOnes) {
  const Record& record = first_run().of("at_zero.py");
  EXPECT_EQ(to_string(record.outcome), "mismatch");
  EXPECT_THAT(record.message, testing::HasSubstr("zeros"));
}

/// All calls after the 23rd are timed.
TEST(NearTolerance, OfATimedCallIsSettledAsWell) {
  const TempFolder folder;
  folder.write("set/level1/1_Near.py", problem_of("torch.tanh(x) + 2", "torch.randn(40, 50)"));
  folder.write("candidates/me/1_Near/always.py", off_in("calls > 23", 1.5, 1));
  // The trial has settled its near misses in this distribution as right.
  folder.write("candidates/me/1_Near/once_in_a_trial.py",
               off_in("calls == 3 or calls > 30", 1.5, 1));
  for (int call = 20; call < 30; ++call)
    folder.write(fmt::format("candidates/me/1_Near/once_{}.py", call),
                 off_in(fmt::format("calls == {}", call), 1.5, 1));
  int flagged = 0;
  for (const auto& [id, record] : judge_folder(folder)) {
    flagged += static_cast<int>(std::ranges::count(record.flags, "near_tolerance"));
    if (id.find("once") != std::string::npos) {
      EXPECT_EQ(to_string(record.outcome), "correct") << id << ": " << record.message;
      continue;
    }
    EXPECT_EQ(to_string(record.outcome), "mismatch");
    EXPECT_EQ(record.cause, "timed_output");
    EXPECT_THAT(record.flags, Not(Contains("near_tolerance")));
  }
  EXPECT_GT(flagged, 0);
}

}  // namespace
}  // namespace kbench::test

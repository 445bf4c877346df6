// SPDX-License-Identifier: MIT
// Runs kbench eval as users do, with and without mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

using Files = std::map<std::string, std::string>;

std::string problem(const std::string& name) { return "set/level1/" + name + ".py"; }
std::string candidate(const std::string& place) { return "candidates/me/" + place; }

/// A kernel for 64 inputs that adds `added` to each. It executes `first` before.
std::string adding(const std::string& added, const std::string& first = {}) {
  return "//@ out y like x\n//@ k<<<1, 64>>>(x, y)\n"
         "__global__ void k(const float* x, float* y) {\n" +
         first + "  y[threadIdx.x] = x[threadIdx.x] + " + added + ";\n}\n";
}
const std::string kSaysThatItIsCalled = "  if (threadIdx.x == 0) printf(\"call\\n\");\n";

std::string printing(int lines) {
  return adding("1.0f", fmt::format("  for (int i = 0; i < {}; ++i)\n"
                                    "    printf(\"a line of the kernel %d\\n\", i);\n",
                                    lines));
}

const std::string kOfAnotherShape =
    "//@ out y: float32[3]\n//@ k<<<1, 1>>>(y)\n__global__ void k(float* y) { y[0] = 1; }\n";

const std::string kModel =
    "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n";

/// A problem that fails itself, and words of the message.
struct BadProblem {
  std::string name, source, words;
};
const std::vector<BadProblem> kBadProblems{
    {"import", "import no_such_module_here\nclass Model: pass\ndef get_inputs(): pass\n",
     "no_such_module_here"},
    {"syntax", "class Model(:\ndef get_inputs(): pass\n", "not valid Python"},
    {"forward",
     kModel + "        raise ValueError('not today')\n"
              "def get_inputs():\n    return [torch.randn(8)]\n",
     "not today"},
    {"random",
     kModel + "        return x + torch.rand_like(x)\n"
              "def get_inputs():\n    return [torch.randn(8)]\n",
     "random"},
    {"memory",
     kModel + "        return x\n"
              "def get_inputs():\n    return [torch.randn(1 << 45)]\n",
     "GB"},
    {"output",
     kModel + "        return 'text'\n"
              "def get_inputs():\n    return [torch.randn(8)]\n",
     "not a tensor"},
    {"exit", kModel + "        return x\ndef get_inputs():\n    import os\n    os._exit(3)\n", ""}};

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun = [] {
    Files files{
        {problem("1_AddOne"), add_one_problem(1000)},
        {candidate("1_AddOne/right.cu"), add_one_kernel()},
        {candidate("1_AddOne/off_at_137.cu"), R"(//@ dims x[N]
//@ out y like x
//@ k<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i == 137 ? 42.0f : x[i] + 1.0f;
}
)"},
        {candidate("1_AddOne/empty.cu"), ""},
        {candidate("1_AddOne/not_utf8.cu"), "//@ out y\xff\xfe\n"},
        {candidate("1_AddOne/oversized.cu"), std::string(100u << 20, 'x')},
        {candidate("1_AddOne/no_model.py"), "class ModelNew: pass\n"},
        {candidate("1_AddOne/faulty_plan.cu"),
         "//@ out y like z\n//@ k<<<1, 1>>>(y)\n__global__ void k(float* y) { y[0] = 1; }\n"},
        {problem("2_Small"), add_one_problem(64)},
        {candidate("2_Small/far_off.cu"), adding("2", kSaysThatItIsCalled)},
        {candidate("2_Small/just_off.cu"), adding("1.0005f", kSaysThatItIsCalled)},
        {candidate("2_Small/talks.cu"), printing(20)},
        {candidate("2_Small/floods.cu"), printing(2000)},
        {problem("3_NobodysOwn"), add_one_problem(2000)},
        {problem("4_Scaled"), R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x, alpha):
        y = x * alpha
        return y, y.argmax(dim=1)
def get_inputs():
    return [torch.randn(7, 33), 2.5]
)"},
        {candidate("4_Scaled/scaled.cu"), R"(//@ dims x[R, C]
//@ out y like x
//@ out best: int64[R]
//@ scaled<<<R, 1>>>(x, alpha, y, best, C)
__global__ void scaled(const float* x, float alpha, float* y, long long* best, int c) {
  int r = blockIdx.x, at = 0;
  for (int i = 0; i < c; ++i) {
    y[r * c + i] = x[r * c + i] * alpha;
    if (x[r * c + i] > x[r * c + at]) at = i;
  }
  best[r] = at;
}
)"}};
    for (const BadProblem& bad : kBadProblems) {
      files[problem("5_" + bad.name)] = bad.source;
      files[candidate("5_" + bad.name + "/" + bad.name + ".cu")] = add_one_kernel();
    }
    return JudgedRun(files);
  }();
  return kRun;
}

TEST(Eval, RunFileHoldsHeaderManifestRecordAndEnd) {
  ASSERT_EQ(plain_run().result().status.code, 0) << plain_run().result().error;
  const auto run = read_run(plain_run().file());
  ASSERT_THAT(run.headers, SizeIs(1));
  EXPECT_EQ(run.headers[0].options.at("seed"), "secret");
  EXPECT_FALSE(run.headers[0].environment.at("nvrtc").get<std::string>().empty());
  ASSERT_THAT(run.manifest, SizeIs(plain_run().records().size() + 1)) << "and the missing one";
  EXPECT_EQ(run.manifest[0].model, "me");
  EXPECT_THAT(run.records, SizeIs(run.manifest.size()));
  const Record& right = plain_run().of("right.cu");
  EXPECT_EQ(right.outcome, Outcome::kCorrect) << right.message;
  EXPECT_TRUE(right.speedup.empty());
  ASSERT_TRUE(run.secret.has_value());
  EXPECT_GE(run.secret->size(), 32u);
  EXPECT_THAT(plain_run().result().output, HasSubstr("1_AddOne"));
}

TEST(Eval, DetailsLieWhereTheRecordSays) {
  const auto details = plain_run().details_of("right.cu");
  EXPECT_TRUE(details.dump().find("raw_ms") != std::string::npos) << details.dump();
}

/// A run with `--all-trials` and `--fail-under`, whose candidate is wrong.
const JudgedRun& failing_run() {
  static const JudgedRun kRun({{problem("2_Small"), add_one_problem(64)},
                               {candidate("2_Small/far_off.cu"), adding("2", kSaysThatItIsCalled)}},
                              {"--all-trials", "--fail-under", "fast_0=0.5"});
  return kRun;
}

TEST(Eval, AGateThatIsNotMetExitsWithThree) {
  EXPECT_EQ(failing_run().result().status.code, 3) << failing_run().result().error;
}

TEST(Eval, ResumeSkipsWhatHasItsVerdict) {
  const JudgedRun& once = failing_run();
  once.folder().write(candidate("2_Small/other.cu"), kOfAnotherShape);
  const auto again = run_kbench({"eval", (once.folder().path() / "set").string(), "--candidates",
                                 (once.folder().path() / "candidates").string(), "--device", "cpu",
                                 "--out", once.file().string(), "--all-trials", "--resume"});
  ASSERT_EQ(again.status.code, 0) << again.error;
  EXPECT_THAT(again.error, HasSubstr("1 candidates have their verdict already; 1 are left"));
  const auto run = read_run(once.file());
  ASSERT_THAT(run.records, SizeIs(2));
  std::ifstream file(once.file());
  int lines = 0;
  for (std::string line; std::getline(file, line);)
    lines += json::parse(line).at("type") == "record" ? 1 : 0;
  EXPECT_EQ(lines, 2) << "the first record was not judged again";
}

TEST(Eval, AnExistingRunFileIsNotTouchedWithoutResume) {
  const TempFolder folder;
  const auto set = folder.write(problem("1_AddOne"), add_one_problem(1000)).parent_path();
  folder.write(candidate("1_AddOne/a.cu"), add_one_kernel());
  const auto out = folder.write("run.jsonl", "{\"type\": \"something\"}\n");
  const auto result =
      run_kbench({"eval", set.string(), "--candidates", (folder.path() / "candidates").string(),
                  "--device", "cpu", "--out", out.string()});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("run.jsonl"));
  std::ifstream file(out);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "{\"type\": \"something\"}");
}

TEST(Eval, ANamedProblemWithoutACandidateIsMissing) {
  std::vector<std::string> missing;
  for (const auto& record : read_run(plain_run().file()).records)
    if (record.outcome == Outcome::kMissing) missing.push_back(record.problem.str());
  EXPECT_THAT(missing, testing::ElementsAre("level1/3_NobodysOwn"));
}

TEST(Eval, AScalarArgumentAndAnIntegerOutputWork) {
  const Record& record = plain_run().of("scaled.cu");
  EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
}

TEST(Eval, MismatchNamesTheFirstWrongElement) {
  const Record& record = plain_run().of("off_at_137.cu");
  EXPECT_EQ(record.outcome, Outcome::kMismatch);
  ASSERT_FALSE(record.correctness.empty());
  ASSERT_TRUE(record.correctness[0].first_wrong.has_value());
  EXPECT_EQ(record.correctness[0].first_wrong->index, std::vector<std::int64_t>{137});
  EXPECT_EQ(record.correctness[0].first_wrong->got, "42");
  EXPECT_THAT(plain_run().result().output, AllOf(HasSubstr("137"), HasSubstr("42")));
}

TEST(Eval, AClearFailureEndsTheTrials) {
  // A failure needs four more calls: repeated ones, and one after another content of memory.
  const auto calls = [](const JudgedRun& run, const std::string& name) {
    EXPECT_EQ(run.of(name).outcome, Outcome::kMismatch) << run.of(name).message;
    return std::ranges::count(run.details_of(name).at("log").get<std::string>(), '\n');
  };
  EXPECT_EQ(calls(plain_run(), "far_off.cu"), 5);
  // This candidate misses only fp32's tolerance, so the other trials follow.
  EXPECT_EQ(calls(plain_run(), "just_off.cu"), 9);
  EXPECT_EQ(calls(failing_run(), "far_off.cu"), 9);
}

TEST(Eval, WhatAKernelPrintsIsKeptAndBounded) {
  const Record& some = plain_run().of("talks.cu");
  EXPECT_EQ(some.outcome, Outcome::kCorrect) << some.message;
  ASSERT_TRUE(some.details.has_value());
  EXPECT_GT(some.details->length, 100'000u);
  const Record& flood = plain_run().of("floods.cu");
  EXPECT_EQ(flood.outcome, Outcome::kRejected) << flood.message;
  EXPECT_EQ(flood.cause, "too_much_output");
  ASSERT_TRUE(flood.details.has_value());
  EXPECT_GT(flood.details->length, 100'000u);
  EXPECT_LT(flood.details->length, 2'500'000u);
}

TEST(Eval, ASizeAndAPublicSeedMayBeGiven) {
  const JudgedRun run(
      {{problem("1_AddOne"), add_one_problem(1000)}, {candidate("1_AddOne/a.cu"), R"(//@ dims x[N]
//@ out y: float32[77]
//@ k<<<1, 128>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + 1.0f;
}
)"}},
      {"--seed", "7", "--set", "N=77"});
  EXPECT_EQ(run.of("a.cu").outcome, Outcome::kCorrect) << run.of("a.cu").message;
  EXPECT_THAT(run.of("a.cu").flags, testing::Contains("public_seed"));
}

TEST(Eval, TimeoutMayAlsoGiveMoreTimeThanUsual) {
  const JudgedRun run(
      {{problem("1_AddOne"), add_one_problem(64)}, {candidate("1_AddOne/a.cu"), R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 64>>>(x, y)
__global__ void k(const float* x, volatile float* y) {
  for (;;) y[threadIdx.x] = x[threadIdx.x];
}
)"}},
      {"--timeout", "3"});
  EXPECT_EQ(run.of("a.cu").outcome, Outcome::kTimeout) << run.of("a.cu").message;
  EXPECT_GE(run.of("a.cu").seconds, 3);
}

TEST(Eval, ShardsShareOneManifest) {
  const JudgedRun sharded({{problem("1_AddOne"), add_one_problem(100)},
                           {problem("2_AddOneMore"), add_one_problem(200)},
                           {candidate("1_AddOne/a.cu"), add_one_kernel()},
                           {candidate("2_AddOneMore/a.cu"), add_one_kernel()}},
                          {"--shard", "1/2"});
  const auto run = read_run(sharded.file());
  EXPECT_THAT(run.manifest, SizeIs(2));
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_EQ(run.records[0].problem.str(), "level1/2_AddOneMore");
}

TEST(ProblemFailures, AreTheProblemsOwn) {
  for (const BadProblem& bad : kBadProblems) {
    const Record& record = plain_run().of(bad.name + ".cu");
    EXPECT_EQ(record.outcome, Outcome::kProblemFailure) << bad.name << ": " << record.message;
    EXPECT_THAT(record.message, HasSubstr(bad.words)) << bad.name;
  }
  EXPECT_THAT(plain_run().result().error, testing::Not(HasSubstr("Traceback")));
}

TEST(Eval, BytesThatAreNoCodeAreRejected) {
  const std::map<std::string, std::string> expected{{"empty.cu", "rejected:empty"},
                                                    {"not_utf8.cu", "rejected:not_utf8"},
                                                    {"oversized.cu", "rejected:oversized"},
                                                    {"no_model.py", "load_failure:no_modelnew"}};
  for (const auto& [name, said] : expected) {
    const Record& record = plain_run().of(name);
    EXPECT_EQ(fmt::format("{}:{}", to_string(record.outcome), record.cause.str()), said);
  }
}

TEST(Eval, AFaultyPlanIsToldWithLineAndColumn) {
  const Record& record = plain_run().of("faulty_plan.cu");
  EXPECT_EQ(record.outcome, Outcome::kCompileFailure);
  EXPECT_THAT(record.message, HasSubstr("line 1, column 16"));
}

TEST(Eval, ASegfaultOrHangCostsOneCandidate) {
  const JudgedRun run({{problem("1_AddOne"), add_one_problem(512)},
                       {candidate("1_AddOne/a.cu"), R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 32>>>(x, y)
__global__ void k(const float* x, volatile float* y) { while (y[0] != 12345.0f) y[1] = x[0]; }
)"},
                       {candidate("1_AddOne/b.cu"), add_one_kernel()}},
                      {"--timeout", "0.5"});
  EXPECT_EQ(run.of("a.cu").outcome, Outcome::kTimeout) << run.of("a.cu").message;
  EXPECT_EQ(run.of("b.cu").outcome, Outcome::kCorrect) << run.of("b.cu").message;
}

}  // namespace
}  // namespace kbench::test

// SPDX-License-Identifier: MIT
// kbench eval from outside: what users do, and what they do wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class Eval : public testing::Test {
 protected:
  std::filesystem::path problem(const std::string& name, const std::string& text) {
    return folder_.write("set/level1/" + name + ".py", text);
  }
  std::filesystem::path candidate(const std::string& place, const std::string& text) {
    return folder_.write("candidates/" + place, text);
  }
  /// Evaluates the folder's candidates on its problems.
  CommandResult eval(std::vector<std::string> more) {
    std::vector<std::string> arguments{"eval",         (folder_.path() / "set").string(),
                                       "--candidates", (folder_.path() / "candidates").string(),
                                       "--device",     "cpu",
                                       "--out",        out().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_kbench(arguments);
  }
  std::filesystem::path out() const { return folder_.path() / "run.jsonl"; }
  Record only_record() {
    const auto run = read_run(out());
    EXPECT_THAT(run.records, SizeIs(1));
    return run.records.at(0);
  }

  TempFolder folder_;
};

TEST_F(Eval, RunFileHoldsHeaderRosterRecordAndEnd) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  const auto result = eval({});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.headers, SizeIs(1));
  EXPECT_EQ(run.headers[0].options.at("seed"), "secret");
  EXPECT_FALSE(run.headers[0].environment.at("nvrtc").get<std::string>().empty());
  ASSERT_THAT(run.roster, SizeIs(1));
  EXPECT_EQ(run.roster[0].model, "me");
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_EQ(run.records[0].outcome, Outcome::kCorrect);
  EXPECT_TRUE(run.records[0].speedup.empty());
  ASSERT_TRUE(run.secret.has_value());
  EXPECT_GE(run.secret->size(), 32u);
  EXPECT_THAT(result.output, HasSubstr("1_AddOne"));
}

TEST_F(Eval, DetailsLieWhereTheRecordSays) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  ASSERT_EQ(eval({}).status.code, 0);
  const auto record = only_record();
  ASSERT_TRUE(record.details.has_value());
  std::ifstream file(details_path(out()), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(record.details->offset));
  std::string text(record.details->length, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto details = json::parse(text);
  EXPECT_TRUE(details.dump().find("raw_ms") != std::string::npos) << details.dump();
}

TEST_F(Eval, ResumeSkipsWhatHasItsVerdict) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  ASSERT_EQ(eval({}).status.code, 0);
  candidate("me/1_AddOne/b.cu",
            "//@ out y: float32[3]\n//@ k<<<1, 1>>>(y)\n"
            "__global__ void k(float* y) { y[0] = 1; }\n");
  const auto again = eval({"--resume"});
  ASSERT_EQ(again.status.code, 0) << again.error;
  EXPECT_THAT(again.error, HasSubstr("1 candidates have their verdict already; 1 are left"));
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(2));
  std::ifstream file(out());
  int lines = 0;
  for (std::string line; std::getline(file, line);)
    lines += json::parse(line).at("type") == "record" ? 1 : 0;
  EXPECT_EQ(lines, 2) << "the first record was not judged again";
}

TEST_F(Eval, AnExistingRunFileIsNotTouchedWithoutResume) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  std::ofstream(out()) << "{\"type\": \"something\"}\n";
  const auto result = eval({});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("run.jsonl"));
  std::ifstream file(out());
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "{\"type\": \"something\"}");
}

TEST_F(Eval, ANamedProblemWithoutACandidateIsMissing) {
  problem("1_AddOne", add_one_problem(1000));
  problem("2_AddOneMore", add_one_problem(2000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  ASSERT_EQ(eval({}).status.code, 0);
  const auto run = read_run(out());
  ASSERT_THAT(run.roster, SizeIs(2));
  int missing = 0;
  for (const auto& record : run.records) missing += record.outcome == Outcome::kMissing ? 1 : 0;
  EXPECT_EQ(missing, 1);
}

TEST_F(Eval, AScalarArgumentAndAnIntegerOutputWork) {
  problem("1_Scaled", R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x, alpha):
        y = x * alpha
        return y, y.argmax(dim=1)
def get_inputs():
    return [torch.randn(7, 33), 2.5]
)");
  candidate("me/1_Scaled/a.cu", R"(//@ dims x[R, C]
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
)");
  ASSERT_EQ(eval({}).status.code, 0);
  const auto record = only_record();
  EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
}

TEST_F(Eval, MismatchNamesTheFirstWrongElement) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i == 137 ? 42.0f : x[i] + 1.0f;
}
)");
  const auto result = eval({});
  ASSERT_EQ(result.status.code, 0);
  const auto record = only_record();
  EXPECT_EQ(record.outcome, Outcome::kMismatch);
  ASSERT_FALSE(record.correctness.empty());
  ASSERT_TRUE(record.correctness[0].first_wrong.has_value());
  EXPECT_EQ(record.correctness[0].first_wrong->index, std::vector<std::int64_t>{137});
  EXPECT_EQ(record.correctness[0].first_wrong->got, "42");
  EXPECT_THAT(result.output, AllOf(HasSubstr("137"), HasSubstr("42")));
}

TEST_F(Eval, AClearFailureEndsTheTrials) {
  struct Case {
    std::string added;
    std::vector<std::string> options;
    int calls;  // a failure costs four more: repeated, and over other contents of memory
  };
  // The second misses fp32's tolerance alone: the other trials tell at which row it is right.
  for (const Case& c : {Case{"2", {}, 5}, Case{"1.0005f", {}, 9}, Case{"2", {"--all-trials"}, 9}}) {
    std::filesystem::remove(out());
    problem("1_AddOne", add_one_problem(64));
    candidate(
        "me/1_AddOne/a.cu",
        "//@ out y like x\n//@ k<<<1, 64>>>(x, y)\n__global__ void k(const float* x, float* y) "
        "{\n  if (threadIdx.x == 0) printf(\"call\\n\");\n"
        "  y[threadIdx.x] = x[threadIdx.x] + " +
            c.added + ";\n}\n");
    ASSERT_EQ(eval(c.options).status.code, 0);
    const Record record = only_record();
    EXPECT_EQ(record.outcome, Outcome::kMismatch) << record.message;
    ASSERT_TRUE(record.details.has_value());
    std::ifstream file(details_path(out()), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(record.details->offset));
    std::string text(record.details->length, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    const auto log = json::parse(text).at("log").get<std::string>();
    EXPECT_EQ(std::ranges::count(log, '\n'), c.calls) << c.added;
  }
}

TEST_F(Eval, WhatAKernelPrintsIsKeptAndBounded) {
  problem("1_AddOne", add_one_problem(64));
  const auto printing = [this](int lines) {
    candidate("me/1_AddOne/a.cu", fmt::format(R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 64>>>(x, y)
__global__ void k(const float* x, float* y) {{
  for (int i = 0; i < {}; ++i) printf("a line of the kernel %d\n", i);
  y[threadIdx.x] = x[threadIdx.x] + 1.0f;
}}
)",
                                              lines));
    std::filesystem::remove(out());
    EXPECT_EQ(eval({}).status.code, 0);
    return only_record();
  };
  const auto some = printing(20);
  EXPECT_EQ(some.outcome, Outcome::kCorrect) << some.message;
  ASSERT_TRUE(some.details.has_value());
  EXPECT_GT(some.details->length, 100'000u);
  const auto flood = printing(2000);
  EXPECT_EQ(flood.outcome, Outcome::kRejected) << flood.message;
  EXPECT_EQ(flood.cause, "too_much_output");
  ASSERT_TRUE(flood.details.has_value());
  EXPECT_GT(flood.details->length, 100'000u);
  EXPECT_LT(flood.details->length, 2'500'000u);
}

TEST_F(Eval, PublicSeedIsSaidAndRepeatable) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  ASSERT_EQ(eval({"--seed", "7"}).status.code, 0);
  EXPECT_THAT(only_record().flags, testing::Contains("public_seed"));
}

TEST_F(Eval, TimeoutMayAlsoGiveMoreTimeThanUsual) {
  problem("1_AddOne", add_one_problem(64));
  candidate("me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 64>>>(x, y)
__global__ void k(const float* x, volatile float* y) {
  for (;;) y[threadIdx.x] = x[threadIdx.x];
}
)");
  ASSERT_EQ(eval({"--timeout", "5"}).status.code, 0);
  const auto record = only_record();
  EXPECT_EQ(record.outcome, Outcome::kTimeout) << record.message;
  EXPECT_GE(record.seconds, 5);
}

TEST_F(Eval, SetChangesASize) {
  problem("1_AddOne", add_one_problem(1000));
  candidate("me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y: float32[77]
//@ k<<<1, 128>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + 1.0f;
}
)");
  ASSERT_EQ(eval({"--set", "N=77"}).status.code, 0);
  EXPECT_EQ(only_record().outcome, Outcome::kCorrect) << only_record().message;
}

TEST_F(Eval, ShardsShareOneRoster) {
  problem("1_AddOne", add_one_problem(100));
  problem("2_AddOneMore", add_one_problem(200));
  candidate("me/1_AddOne/a.cu", add_one_kernel());
  candidate("me/2_AddOneMore/a.cu", add_one_kernel());
  ASSERT_EQ(eval({"--shard", "1/2"}).status.code, 0);
  const auto run = read_run(out());
  EXPECT_THAT(run.roster, SizeIs(2));
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_EQ(run.records[0].problem.str(), "level1/2_AddOneMore");
}

TEST_F(Eval, AGateThatIsNotMetExitsWithThree) {
  problem("1_AddOne", add_one_problem(100));
  candidate("me/1_AddOne/a.cu",
            "//@ out y: float32[3]\n//@ k<<<1, 1>>>(y)\n"
            "__global__ void k(float* y) { y[0] = 1; }\n");
  const auto result = eval({"--fail-under", "fast_0=0.5"});
  EXPECT_EQ(result.status.code, 3) << result.error;
}

// --- problems that fail by themselves

struct BadProblem {
  std::string name, source, words;
};

class ProblemFailures : public Eval, public testing::WithParamInterface<BadProblem> {};

TEST_P(ProblemFailures, AreTheProblemsOwn) {
  problem("1_Bad", GetParam().source);
  candidate("me/1_Bad/a.cu", add_one_kernel());
  const auto result = eval({});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto record = only_record();
  EXPECT_EQ(record.outcome, Outcome::kProblemFailure) << record.message;
  EXPECT_THAT(record.message, HasSubstr(GetParam().words));
  EXPECT_THAT(result.error, testing::Not(HasSubstr("Traceback")));
}

const std::string kModel =
    "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n";
INSTANTIATE_TEST_SUITE_P(
    Kinds, ProblemFailures,
    testing::Values(
        BadProblem{"import",
                   "import no_such_module_here\nclass Model: pass\ndef get_inputs(): pass\n",
                   "no_such_module_here"},
        BadProblem{"syntax", "class Model(:\ndef get_inputs(): pass\n", "no Python"},
        BadProblem{"forward",
                   kModel + "        raise ValueError('not today')\n"
                            "def get_inputs():\n    return [torch.randn(8)]\n",
                   "not today"},
        BadProblem{"random",
                   kModel + "        return x + torch.rand_like(x)\n"
                            "def get_inputs():\n    return [torch.randn(8)]\n",
                   "random"},
        BadProblem{"memory",
                   kModel + "        return x\n"
                            "def get_inputs():\n    return [torch.randn(1 << 45)]\n",
                   "GB"},
        BadProblem{"output",
                   kModel + "        return 'text'\n"
                            "def get_inputs():\n    return [torch.randn(8)]\n",
                   "no tensor"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Eval, AProblemThatKillsItsProcessIsTheProblemsOwn) {
  problem("1_Bad",
          kModel + "        return x\ndef get_inputs():\n    import os\n    os._exit(3)\n");
  candidate("me/1_Bad/a.cu", add_one_kernel());
  const auto result = eval({});
  EXPECT_EQ(result.status.code, 0) << result.error;
  EXPECT_EQ(only_record().outcome, Outcome::kProblemFailure) << only_record().message;
}

// --- candidates that are no code

TEST_F(Eval, BytesThatAreNoCodeAreRejected) {
  problem("1_AddOne", add_one_problem(100));
  candidate("me/1_AddOne/a.cu", "");
  candidate("me/1_AddOne/b.cu", "//@ out y\xff\xfe\n");
  candidate("me/1_AddOne/c.cu", std::string(100u << 20, 'x'));
  candidate("me/1_AddOne/d.py", "class ModelNew: pass\n");
  const auto result = eval({});
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<int, std::string> causes;
  for (const auto& record : read_run(out()).records)
    causes[record.sample] = std::string(to_string(record.outcome)) + ":" + record.cause.str();
  EXPECT_EQ(causes[0], "rejected:empty");
  EXPECT_EQ(causes[1], "rejected:not_utf8");
  EXPECT_EQ(causes[2], "rejected:oversized");
  EXPECT_EQ(causes[3], "load_failure:no_modelnew");
}

TEST_F(Eval, AFaultyPlanIsToldWithLineAndColumn) {
  problem("1_AddOne", add_one_problem(100));
  candidate("me/1_AddOne/a.cu",
            "//@ out y like z\n//@ k<<<1, 1>>>(y)\n"
            "__global__ void k(float* y) { y[0] = 1; }\n");
  ASSERT_EQ(eval({}).status.code, 0);
  EXPECT_EQ(only_record().outcome, Outcome::kCompileFailure);
  EXPECT_THAT(only_record().message, HasSubstr("line 1, column 16"));
}

TEST_F(Eval, ASegfaultOrHangCostsOneCandidate) {
  problem("1_AddOne", add_one_problem(512));
  candidate("me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 32>>>(x, y)
__global__ void k(const float* x, volatile float* y) { while (y[0] != 12345.0f) y[1] = x[0]; }
)");
  candidate("me/1_AddOne/b.cu", add_one_kernel());
  ASSERT_EQ(eval({"--timeout", "0.5"}).status.code, 0);
  const auto records = read_run(out()).records;
  ASSERT_THAT(records, SizeIs(2));
  for (const auto& record : records)
    EXPECT_EQ(record.outcome, record.sample == 0 ? Outcome::kTimeout : Outcome::kCorrect)
        << record.message;
}

}  // namespace
}  // namespace kbench::test

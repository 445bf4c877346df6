// SPDX-License-Identifier: MIT
// Runs kbench audit on the CPU: which problems are degenerate under which check, and how reports
// use the audit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"
#include "kbench/run_file.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::string problem(const std::string& forward, int columns) {
  return "import torch\nimport torch.nn as nn\nrows = 8\ncolumns = " + std::to_string(columns) +
         "\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return " + forward +
         "\n\ndef get_inputs():\n    return [torch.rand(rows, columns)]\n";
}

std::string answer(const std::string& forward) {
  return "import torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
         "        return " +
         forward + "\n";
}

class Audit : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("set/level1/1_Relu.py", problem("torch.relu(x)", 64));
    folder_.write("set/level1/2_Softmax.py", problem("torch.softmax(x, 1)", 16384));
    folder_.write("set/level1/3_TimesZero.py", problem("x * 0", 64));
    folder_.write("set/level1/4_Healthy.py", problem("torch.exp(x).cumsum(1)", 64));
    folder_.write("set/level1/5_Broken.py", problem("no_such_name(x)", 64));
  }
  std::string set() const { return (folder_.path() / "set").string(); }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  CommandResult audit(const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"audit", set(), "--device", "cpu", "--out", file(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_kbench(arguments);
  }
  /// The audits in a file, by their problems' names.
  std::map<std::string, ProblemAudit> read(const std::string& name) {
    std::map<std::string, ProblemAudit> audits;
    for (const ProblemAudit& audit : read_audits({file(name)}).audits)
      audits.emplace(audit.problem.str().substr(std::string("level1/").size()), audit);
    return audits;
  }

  TempFolder folder_;
};

TEST_F(Audit, FindsWhatIsDegenerateUnderKbenchsCheck) {
  const auto result = audit("own.jsonl");
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto audits = read("own.jsonl");
  ASSERT_THAT(audits, SizeIs(5));
  for (const char* name : {"1_Relu", "2_Softmax", "4_Healthy"}) {
    EXPECT_EQ(audits.at(name).outcome, AuditOutcome::kHealthy) << name;
    EXPECT_THAT(audits.at(name).passing(), IsEmpty()) << name;
  }
  EXPECT_EQ(audits.at("1_Relu").answers.at("input").caught_by, "signed");
  EXPECT_EQ(audits.at("4_Healthy").answers.at("zeros").caught_by, "trial 0");
  EXPECT_EQ(audits.at("4_Healthy").answers.at("first_output").caught_by, "trial 1");
  const ProblemAudit& zero = audits.at("3_TimesZero");
  EXPECT_EQ(zero.outcome, AuditOutcome::kDegenerate);
  EXPECT_THAT(zero.passing(), IsSupersetOf({"constant", "first_output", "zeros"}));
  EXPECT_EQ(zero.answers.at("zeros").would_be_caught_by, "");
  EXPECT_FALSE(zero.answers.at("zeros").tolerance);
  EXPECT_THAT(zero.distributions_left_out, testing::Contains(Key("shifted")));
  const ProblemAudit& broken = audits.at("5_Broken");
  EXPECT_EQ(broken.outcome, AuditOutcome::kProblemFailure);
  EXPECT_THAT(broken.message, HasSubstr("no_such_name"));
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("problem_failure: the reference raises NameError"),
                    HasSubstr("1 of 4 problems is degenerate under this check (kbench, native, 5 "
                              "trials and input distributions)"),
                    HasSubstr("1 more could not be checked: 1 problem_failure, 0 harness_fault")));
  // Every trivial answer has a result in the file.
  EXPECT_THAT(zero.answers, UnorderedElementsAre(Key("zeros"), Key("ones"), Key("input"),
                                                 Key("constant"), Key("mean_of_another_draw"),
                                                 Key("first_output"), Key("half_precision")));
}

TEST_F(Audit, WithoutDistributionsNamesTheOneThatWouldCatchIt) {
  const auto result = audit("bare.jsonl", {"--no-distributions", "--seed", "3"});
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto audits = read("bare.jsonl");
  EXPECT_FALSE(audits.at("1_Relu").check.distributions);
  EXPECT_THAT(audits.at("1_Relu").passing(), ElementsAre("input"));
  EXPECT_EQ(audits.at("1_Relu").answers.at("input").would_be_caught_by, "signed");
  EXPECT_FALSE(audits.at("1_Relu").answers.at("input").tolerance) << "it is exactly right";
  EXPECT_THAT(result.output, testing::ContainsRegex("level1/1_Relu +input +none +signed"));
}

TEST_F(Audit, ByKernelBenchsRulesZerosPassAndKbenchsToleranceCatchesThem) {
  folder_.write("candidates/me/2_Softmax/0.py", answer("torch.zeros_like(x)"));
  folder_.write("candidates/me/4_Healthy/0.py", answer("torch.exp(x).cumsum(1)"));
  const auto result = audit("compat.jsonl", {"--kb-compat"});
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto audits = read("compat.jsonl");
  EXPECT_EQ(audits.at("2_Softmax").check.judge, kCompatJudge);
  const AuditAnswer& zeros = audits.at("2_Softmax").answers.at("zeros");
  EXPECT_EQ(zeros.passes, true);
  EXPECT_EQ(zeros.would_be_caught_by, "drawn");
  EXPECT_NEAR(zeros.tolerance.value(), 9e-5, 1e-12);
  EXPECT_THAT(audits.at("1_Relu").passing(), ElementsAre("input"));
  EXPECT_EQ(audits.at("4_Healthy").outcome, AuditOutcome::kHealthy);

  const auto eval = run_kbench({"eval", set() + "/level1/2_Softmax.py",
                                set() + "/level1/4_Healthy.py", "--candidates", file("candidates"),
                                "--device", "cpu", "--kb-compat", "--out", file("run.jsonl")});
  ASSERT_EQ(eval.status.code, 0) << eval.error;
  const auto report = run_kbench({"report", file("run.jsonl"), "--audit", file("compat.jsonl")});
  EXPECT_EQ(report.status.code, 0) << report.error;
  EXPECT_THAT(report.output, AllOf(testing::ContainsRegex("me +2 +2/2 "),
                                   testing::ContainsRegex("me, less degenerate +1 +1/1 "),
                                   HasSubstr("Degenerate problems: 1"),
                                   HasSubstr("level1/2_Softmax (judged by kb_compat)"),
                                   testing::ContainsRegex("zeros[ \n]+\\(caught by")));
  EXPECT_THAT(run_kbench({"report", file("run.jsonl")}).output, Not(HasSubstr("egenerate")));

  // An audit of another check, or at other sizes, does not apply to this run.
  ASSERT_EQ(audit("own.jsonl").status.code, 0);
  const auto other = run_kbench({"report", file("run.jsonl"), "--audit", file("own.jsonl")});
  EXPECT_EQ(other.status.code, 2);
  EXPECT_THAT(other.error, HasSubstr("no audit is of a problem and a check of the run"));
  ASSERT_EQ(audit("small.jsonl", {"--kb-compat", "--set", "columns=32"}).status.code, 0);
  const auto small = run_kbench({"report", file("run.jsonl"), "--audit", file("small.jsonl")});
  EXPECT_EQ(small.status.code, 2);
  EXPECT_THAT(small.error, HasSubstr("other sizes"));
}

TEST_F(Audit, NoShippedProblemIsDegenerate) {
  const auto result = run_kbench({"audit", "--device", "cpu", "--out", file("shipped.jsonl")});
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto audits = read("shipped.jsonl");
  EXPECT_THAT(audits, SizeIs(24));
  for (const auto& [name, audit] : audits)
    EXPECT_EQ(audit.outcome, AuditOutcome::kHealthy)
        << name << ": " << testing::PrintToString(audit.passing()) << " " << audit.message;
}

TEST_F(Audit, GoesOnWithAFileAndSpeaksJson) {
  ASSERT_EQ(audit("some.jsonl", {"--seed", "1", "--trials", "2"}).status.code, 0);
  const auto taken = audit("some.jsonl");
  EXPECT_EQ(taken.status.code, 2);
  EXPECT_THAT(taken.error, HasSubstr("exists: continue it with --resume"));
  folder_.write("set/level1/6_New.py", problem("x.exp()", 32));
  const auto resumed = audit("some.jsonl", {"--seed", "1", "--trials", "2", "--resume", "--format",
                                            "json", "--jobs", "2"});
  EXPECT_EQ(resumed.status.code, 0) << resumed.error;
  EXPECT_THAT(resumed.error, HasSubstr("5 problems have their verdict already; 1 are left"));
  const json all = json::parse(resumed.output);
  EXPECT_EQ(all.at("degenerate"), (json{"level1/3_TimesZero"}));
  ASSERT_EQ(all.at("problems").size(), 6u);
  EXPECT_EQ(all.at("problems")[5].at("problem"), "level1/6_New");
  EXPECT_EQ(all.at("problems")[5].at("degenerate"), false);
}

TEST_F(Audit, AProblemThatTakesTooLongIsItsOwnFailure) {
  folder_.write("set/level1/1_Relu.py",
                "import time\n" + problem("[torch.relu(x), time.sleep(0.4)][0]", 8));
  folder_.write("set/level1/2_Softmax.py", problem("x.exp()", 8));
  const auto result = audit("slow.jsonl", {"--timeout", "3", "--full-sizes"});
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto audits = read("slow.jsonl");
  EXPECT_EQ(audits.at("1_Relu").outcome, AuditOutcome::kProblemFailure);
  EXPECT_EQ(audits.at("1_Relu").cause, "time_limit");
  EXPECT_THAT(audits.at("1_Relu").message, HasSubstr("longer than 3 s"));
  EXPECT_EQ(audits.at("2_Softmax").outcome, AuditOutcome::kHealthy);
}

TEST_F(Audit, BadInputIsOneSentence) {
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& what) {
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 2) << result.error;
    EXPECT_THAT(result.error, HasSubstr(what));
  };
  says({"audit", "no_such_problem"}, "there is no problem \"no_such_problem\"");
  says({"audit", set(), "--set", "nonsense=3"}, "nonsense");
  says({"audit", set(), "--kb-compat", "--seed", "3"}, "cannot be combined");
  says({"audit", set(), "--kb-compat", "--precision", "tf32"}, "no precision tf32");
  says({"audit", set(), "--timeout", "0"}, "above zero");
  says({"audit", set(), "--device", "cuda:99"}, "cuda:99");
  says({"report", set() + "/level1/1_Relu.py"}, "1_Relu.py");
  folder_.write("run.jsonl", "hello\n");
  says({"report", file("run.jsonl"), "--audit", file("run.jsonl")}, "is not an audit file");
}

TEST_F(Audit, HelpTellsItsOptions) {
  const auto result = run_kbench({"audit", "--help"});
  EXPECT_EQ(result.status.code, 0);
  for (const char* option :
       {"--kb-compat", "--no-distributions", "--trials", "--timeout", "--jobs", "--out", "--resume",
        "--format", "json", "--set", "--reduce-sizes", "degenerate"})
    EXPECT_THAT(result.output, HasSubstr(option));
}

}  // namespace
}  // namespace kbench::test

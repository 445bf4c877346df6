// SPDX-License-Identifier: MIT
// Which problems and candidates a command line names.
#include "cli/options/eval_input.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"

namespace kbench::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kProblem = "class Model: pass\ndef get_inputs(): pass\n";
constexpr std::string_view kModule = "class ModelNew: pass\n";

/// A shipped set and a checkout, whose problems have the same numbers.
class Input : public testing::Test {
 protected:
  Input() {
    for (const char* name : {"shipped/level1/1_Swish", "shipped/level1/2_Norm",
                             "checkout/level1/1_Matmul", "checkout/level1/7_Conv"})
      scratch_.write(fmt::format("{}.py", name), kProblem);
    scratch_.write("right/me/1_Swish/0.py", kModule);
    for (const int problem : {1, 7, 9})
      scratch_.write(fmt::format("runs/alpha/level_1_problem_{}_sample_0_kernel.py", problem),
                     kModule);
    installation_.problems = scratch_ / "shipped";
    installation_.candidates = scratch_ / "right";
  }

  /// "problem model sample" of each candidate. `set`: the default problem set.
  std::vector<std::string> found(const std::vector<std::string>& problems,
                                 const std::vector<std::string>& candidates,
                                 const std::string& set = {}) {
    EvalInputArguments arguments;
    arguments.problem_set = set;
    arguments.problems = problems;
    for (const std::string& path : candidates)
      arguments.candidates.push_back((scratch_ / path).string());
    input_ = find_eval_input(arguments, installation_);
    std::vector<std::string> lines;
    for (const Candidate& each : input_.candidates)
      lines.push_back(fmt::format("{} {} {}", each.problem, each.model, each.sample));
    return lines;
  }

  std::string usage_error(const std::vector<std::string>& problems,
                          const std::vector<std::string>& candidates) {
    try {
      found(problems, candidates);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  test::ScratchFolder scratch_;
  Installation installation_;
  EvalInput input_;
};

TEST_F(Input, NumbersOfKernelBenchNeedANamedSet) {
  const auto says_what_to_type =
      AllOf(HasSubstr("level_1_problem_1_sample_0_kernel.py"),
            HasSubstr(fmt::format("as in kbench eval PATH/KernelBench --candidates {}/runs/alpha",
                                  scratch_.path().string())));
  EXPECT_THAT(usage_error({}, {"runs/alpha"}), says_what_to_type);
  EXPECT_THAT(usage_error({"level1"}, {"runs/alpha"}), says_what_to_type)
      << "a name in the shipped set";
  EXPECT_THAT(found({(scratch_ / "checkout").string()}, {"runs/alpha"}),
              ElementsAre("level1/1_Matmul alpha 0", "level1/7_Conv alpha 0"));
  EXPECT_THAT(found({(scratch_ / "shipped").string()}, {"runs/alpha"}), SizeIs(2));
}

TEST_F(Input, NamesAndNumbersAreThoseOfTheDefaultSet) {
  const std::string set = (scratch_ / "checkout").string();
  EXPECT_THAT(found({}, {"runs/alpha"}, set),
              ElementsAre("level1/1_Matmul alpha 0", "level1/7_Conv alpha 0"));
  EXPECT_THAT(found({"7_Conv"}, {"runs/alpha"}, set), ElementsAre("level1/7_Conv alpha 0"));
  EXPECT_THAT(found({"level1"}, {"runs/alpha"}, (scratch_ / "shipped").string()),
              ElementsAre("level1/1_Swish alpha 0", "level1/2_Norm alpha 0"))
      << "even the shipped ones, if somebody names them";
}

TEST_F(Input, CandidatesOfNoProblemAreCountedAndNamed) {
  found({(scratch_ / "checkout").string()}, {"runs/alpha"});
  EXPECT_THAT(input_.left_out.first, ElementsAre(EndsWith("problem_9_sample_0_kernel.py")));
  EXPECT_THAT(input_.notes, ElementsAre(AllOf(HasSubstr("1 candidate belongs to no problem"),
                                              HasSubstr("problem_9_sample_0_kernel.py"))));
  EXPECT_THAT(usage_error({"2_Norm"}, {"right"}),
              AllOf(HasSubstr("1 candidate belongs to no problem of the run"),
                    HasSubstr("right/me/1_Swish/0.py: name their problem set")));
}

TEST_F(Input, ALineOfThePlanIsEnoughForOneFile) {
  const auto problem_of = [&](const char* name, std::string_view source,
                              const std::vector<std::string>& problems = {}) {
    EvalInputArguments arguments;
    arguments.problems = problems;
    arguments.candidate = scratch_.write(name, source).string();
    const EvalInput input = find_eval_input(arguments, installation_);
    EXPECT_THAT(input.problems, SizeIs(1));
    EXPECT_THAT(input.shard, SizeIs(1));
    EXPECT_EQ(input.candidates.at(0).model, "candidate");
    return input.candidates.at(0).problem;
  };
  constexpr std::string_view kKernel = "//@ problem 2_norm\n//@ out y like x\n";
  EXPECT_EQ(problem_of("a.cu", kKernel), "level1/2_Norm");
  EXPECT_EQ(problem_of("1_Swish/a.py", kModule), "level1/1_Swish") << "or its path";
  EXPECT_EQ(problem_of("a.py", kModule, {(scratch_ / "checkout/level1/7_Conv.py").string()}),
            "level1/7_Conv")
      << "or the only problem";
  EXPECT_THROW(problem_of("a.py", kModule), UsageError);
  EXPECT_THROW(problem_of("level_1_problem_1_sample_0_kernel.py", kModule), UsageError);
}

TEST_F(Input, ShippedCandidatesOfOtherProblemsAreNoNews) {
  scratch_.write("right/me/2_Norm/0.py", kModule);
  EXPECT_THAT(found({"1_Swish"}, {}), ElementsAre("level1/1_Swish me 0"));
  EXPECT_THAT(input_.notes, IsEmpty());
  EXPECT_EQ(input_.left_out.count, 0u);
  EXPECT_THAT(usage_error({(scratch_ / "checkout").string()}, {}), HasSubstr("--candidates"));
}

}  // namespace
}  // namespace kbench::cli

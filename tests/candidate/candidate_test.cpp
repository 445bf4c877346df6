// SPDX-License-Identifier: MIT
#include "kbench/candidate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kKernel =
    "//@ out y like x\n//@ k<<<1, 1>>>(x, y)\n__global__ void k();\n";
constexpr std::string_view kModule = "class ModelNew: pass\n";

Problem problem(int level, std::string_view name) {
  Problem problem;
  problem.level = level;
  problem.name = name;
  problem.id = name.substr(0, name.find('_'));
  problem.key = level > 0 ? fmt::format("level{}/{}", level, name) : std::string(name);
  return problem;
}

class Discovery : public testing::Test {
 protected:
  /// "problem model sample" of each candidate found under `relative`.
  std::vector<std::string> found(std::string_view relative, std::optional<std::string> model = {}) {
    result_ = find_candidates({{std::move(model), scratch_ / relative}}, problems_);
    return summary();
  }

  std::vector<std::string> summary() const {
    std::vector<std::string> lines;
    for (const Candidate& each : result_.candidates) {
      lines.push_back(fmt::format("{} {} {}", each.problem, each.model, each.sample));
    }
    return lines;
  }

  /// The candidates that were left out; each of them is named.
  std::vector<std::string> left_out() const {
    EXPECT_EQ(result_.left_out.count, result_.left_out.first.size());
    return result_.left_out.first;
  }

  std::string usage_error(std::string_view relative, std::optional<std::string> model = {}) {
    try {
      found(relative, std::move(model));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  ScratchFolder scratch_;
  std::vector<Problem> problems_ = {problem(1, "19_ReLU"), problem(1, "100_Loss"),
                                    problem(2, "19_Chain")};
  FoundCandidates result_;
};

TEST_F(Discovery, RunFoldersOfKernelBench) {
  for (const char* name : {"level_1_problem_19_sample_0", "level_1_problem_19_sample_10",
                           "level_1_problem_19_sample_2", "level_2_problem_19_sample_0",
                           "level_1_problem_20_sample_0"}) {
    scratch_.write(fmt::format("runs/first/{}_kernel.py", name), kModule);
  }
  scratch_.write("runs/first/eval_results.json", "{}");
  EXPECT_THAT(found("runs/first"),
              ElementsAre("level1/19_ReLU first 0", "level1/19_ReLU first 2",
                          "level1/19_ReLU first 10", "level2/19_Chain first 0"));
  EXPECT_THAT(left_out(), ElementsAre(EndsWith("problem_20_sample_0_kernel.py")));
  EXPECT_THAT(result_.first_numbered, EndsWith("problem_19_sample_0_kernel.py"));
  EXPECT_EQ(result_.candidates[0].kind, CandidateKind::kModule);
  EXPECT_EQ(result_.candidates[0].source, kModule);
  EXPECT_EQ(result_.candidates[0].id,
            (scratch_ / "runs/first/level_1_problem_19_sample_0_kernel.py").string());
  scratch_.write("runs/first/generation_config.yaml",
                 "level: 1\nmodel_name: \"lab/some-model\" # as served\nmodel_name2: no\n");
  EXPECT_EQ(found("runs/first")[0], "level1/19_ReLU lab/some-model 0");
  scratch_.write("runs/first/generation_config.yaml", "model_name: plain # comment\n");
  EXPECT_EQ(found("runs")[0], "level1/19_ReLU plain 0");
  scratch_.write("runs/first/generation_config.yaml", "model_name: null\n");
  EXPECT_EQ(found("runs/first/")[0], "level1/19_ReLU first 0");
  EXPECT_EQ(found("runs", "mine")[0], "level1/19_ReLU mine 0");
}

TEST_F(Discovery, FoldersOfProblemsInNaturalOrder) {
  scratch_.write("right/tuned/19_ReLU/v10.cu", kKernel);
  scratch_.write("right/tuned/19_ReLU/v9.cu", kKernel);
  scratch_.write("right/tuned/100_Loss/a.py", kModule);
  scratch_.write("right/tuned/level2/19_Chain/a.cu", kKernel);
  scratch_.write("right/plain/level1_19_relu/a.cu", kKernel);
  scratch_.write("right/plain/level1/100_Loss/a.cu", kKernel);
  scratch_.write("right/plain/7_Other/a.cu", kKernel);
  scratch_.write("right/plain/level3/foo/a.cu", kKernel);
  EXPECT_THAT(found("right"), ElementsAre("level1/19_ReLU plain 0", "level1/19_ReLU tuned 0",
                                          "level1/19_ReLU tuned 1", "level1/100_Loss plain 0",
                                          "level1/100_Loss tuned 0", "level2/19_Chain tuned 0"));
  EXPECT_THAT(left_out(), ElementsAre(EndsWith("7_Other/a.cu"), EndsWith("foo/a.cu")));
  EXPECT_EQ(result_.first_numbered, "");
  EXPECT_EQ(result_.candidates[1].path, scratch_ / "right/tuned/19_ReLU/v9.cu");
  EXPECT_THAT(found("right/tuned/19_ReLU"),
              ElementsAre("level1/19_ReLU tuned 0", "level1/19_ReLU tuned 1"));
  EXPECT_THAT(found("right/tuned/19_ReLU/v10.cu"), ElementsAre("level1/19_ReLU tuned 0"));
  EXPECT_THAT(found("right/tuned/level2"), ElementsAre("level2/19_Chain tuned 0"));
}

TEST_F(Discovery, FilesNamedAfterTheirProblem) {
  scratch_.write("me/19_ReLU.cu", kKernel);
  scratch_.write("me/level2/19_Chain.py", kModule);
  scratch_.write("me/__init__.py", "");
  EXPECT_THAT(found("me"), ElementsAre("level1/19_ReLU me 0", "level2/19_Chain me 0"));
}

TEST_F(Discovery, TheFilesOwnWordCountsIfThePathNamesNoProblem) {
  scratch_.write("me/a.cu", fmt::format("// text\n  //@ problem 19_relu  # this one\n{}", kKernel));
  scratch_.write("me/b.cu", fmt::format("//@ problem level2/19_Chain\r\n{}", kKernel));
  scratch_.write("me/2_fast.cu", fmt::format("//@ problem 100_Loss\n{}", kKernel));
  scratch_.write("me/d.cu", fmt::format("//@ problem 5_Elsewhere\n{}", kKernel));
  EXPECT_THAT(found("me"),
              ElementsAre("level1/19_ReLU me 0", "level1/100_Loss me 0", "level2/19_Chain me 0"));
  EXPECT_THAT(left_out(), ElementsAre(EndsWith("me/d.cu (`//@ problem 5_Elsewhere`)")));
}

TEST_F(Discovery, ThePathWinsOverTheFilesOwnWord) {
  const auto file = [&](std::string_view path, std::string_view line) {
    scratch_.write(path, fmt::format("//@ problem {}\n{}", line, kKernel));
  };
  file("me/19_ReLU/0.cu", "level1/19_ReLU");
  file("me/19_ReLU/1.cu", "19_relu");
  file("me/19_ReLU/2.cu", "100_Loss");
  file("me/19_ReLU/3.cu", "none_of_yours");
  file("me/19_ReLU/4.cu", "19");
  file("me/19_ReLU/5.cu", "level2/19_ReLU");
  EXPECT_THAT(found("me"),
              ElementsAre("level1/19_ReLU me 0", "level1/19_ReLU me 1", "level1/19_ReLU me 2",
                          "level1/19_ReLU me 3", "level1/19_ReLU me 4", "level1/19_ReLU me 5"));
  for (const Candidate& each : result_.candidates)
    EXPECT_EQ(each.reject_cause, each.sample < 2 ? "" : "other_problem") << each.id;
  EXPECT_THAT(result_.candidates[3].reject_message,
              AllOf(HasSubstr("level1/19_ReLU"), HasSubstr("`none_of_yours`")));
}

TEST_F(Discovery, ALineTakesNoSampleOfAnother) {
  scratch_.write("runs/level_1_problem_19_sample_0_kernel.cu", kKernel);
  scratch_.write("runs/level_1_problem_100_sample_0_kernel.cu",
                 fmt::format("//@ problem level1/19_ReLU\n{}", kKernel));
  scratch_.write("runs/level_1_problem_7_sample_0_kernel.cu",
                 fmt::format("//@ problem level1/19_ReLU\n{}", kKernel));
  EXPECT_THAT(found("runs"), ElementsAre("level1/19_ReLU runs 0", "level1/100_Loss runs 0"));
  EXPECT_EQ(result_.candidates[1].reject_cause, "other_problem");
  EXPECT_THAT(left_out(), ElementsAre(HasSubstr("level_1_problem_7_sample_0")));
}

TEST_F(Discovery, AProblemBesideThoseAskedForIsNoneOfThem) {
  for (const char* name : {"set/level1/19_ReLU", "set/level1/5_Foo", "set/level2/6_Bar"})
    scratch_.write(fmt::format("{}.py", name), "class Model: pass\n");
  problems_.resize(1);
  problems_[0].path = scratch_ / "set/level1/19_ReLU.py";
  for (const char* name : {"5_Foo/0", "6_Bar/0", "7_fast/0", "19_ReLU/0"})
    scratch_.write(fmt::format("me/{}.cu", name),
                   fmt::format("//@ problem level1/19_ReLU\n{}", kKernel));
  EXPECT_THAT(found("me"), ElementsAre("level1/19_ReLU me 0", "level1/19_ReLU me 1"));
  EXPECT_EQ(result_.candidates[0].path, scratch_ / "me/7_fast/0.cu") << "a folder of the user's";
  EXPECT_THAT(left_out(), ElementsAre(HasSubstr("5_Foo"), HasSubstr("6_Bar")));
}

TEST_F(Discovery, OneStemInTwoLevelsNeedsTheLevel) {
  problems_ = {problem(1, "1_Norm"), problem(2, "1_Norm")};
  scratch_.write("me/1_Norm/a.cu", kKernel);
  EXPECT_THAT(usage_error("me"), AllOf(HasSubstr("me/1_Norm/a.cu"), HasSubstr("level2/1_Norm")));
  scratch_.write("me/1_Norm/a.cu", fmt::format("//@ problem level2/1_Norm\n{}", kKernel));
  EXPECT_THAT(found("me"), ElementsAre("level2/1_Norm me 0"));
  scratch_.write("me/1_Norm/b.cu", fmt::format("//@ problem 1_Norm\n{}", kKernel));
  scratch_.write("me/1_Norm/c.cu", fmt::format("//@ problem 3_Other\n{}", kKernel));
  EXPECT_THAT(found("me"), ElementsAre("level2/1_Norm me 0")) << "no file's line ends the run";
  EXPECT_THAT(left_out(),
              ElementsAre(EndsWith("1_Norm/b.cu (may belong to level1/1_Norm or to level2/1_Norm)"),
                          HasSubstr("1_Norm/c.cu")));
}

TEST_F(Discovery, ACandidateOfNoProblemIsAnError) {
  scratch_.write("me/fast.cu", kKernel);
  EXPECT_THAT(usage_error("me"), AllOf(HasSubstr("me/fast.cu"), HasSubstr("belongs to no problem"),
                                       HasSubstr("//@ problem NAME")));
  scratch_.write("me/19_ReLU/0.cu", kKernel);
  EXPECT_THAT(found("me"), ElementsAre("level1/19_ReLU me 0")) << "one file ends no run";
  EXPECT_THAT(left_out(), ElementsAre(EndsWith("me/fast.cu (names no problem)")));
}

TEST_F(Discovery, SourcesThatHoldNothing) {
  scratch_.write("me/19_ReLU/a.txt", "text");
  scratch_.write("me/LICENSE", "text");
  EXPECT_THAT(usage_error("me"), HasSubstr("holds no candidates"));
  EXPECT_THAT(usage_error("em"), HasSubstr("there is no file or folder of candidates"));
  EXPECT_THAT(usage_error("m"), HasSubstr("did you mean " + (scratch_ / "me").string()));
  scratch_.write("me/19_ReLU/a.json", "{}");
  EXPECT_THAT(usage_error("me/19_ReLU/a.json"), HasSubstr("not a .cu, .py, .md or .txt file"));
}

TEST_F(Discovery, AnswersAreFoundWhereTheyNameTheirSample) {
  const std::string answer = fmt::format("Text.\n```python\n{}```\n", kModule);
  for (const char* name : {"0.md", "sample_3.txt", "Response-12.md"})
    scratch_.write(fmt::format("m/19_ReLU/{}", name), answer);
  for (const char* name :
       {"README.md", "notes.txt", "LICENSE.txt", "19_ReLU.md", "1_2.md", "0.rst", "prompt_0.txt"})
    scratch_.write(fmt::format("m/19_ReLU/{}", name), answer);
  scratch_.write("m/README.md", answer);
  scratch_.write("m/0.md", answer);
  scratch_.write("m/3_response.md", answer);
  scratch_.write("m/7_Other/0.md", answer);
  EXPECT_THAT(found("m"),
              ElementsAre("level1/19_ReLU m 0", "level1/19_ReLU m 1", "level1/19_ReLU m 2"));
  EXPECT_THAT(left_out(), ElementsAre(HasSubstr("7_Other")));
  const Candidate& first = result_.candidates[0];
  EXPECT_EQ(first.kind, CandidateKind::kModule);
  EXPECT_EQ(first.source, fmt::format("\n\n{}", kModule));
  EXPECT_EQ(first.block->first_line, 3u);
  EXPECT_THAT(found("m/19_ReLU/README.md"), ElementsAre("level1/19_ReLU m 0"))
      << "a file that is named counts, whatever its name";
}

TEST_F(Discovery, AnswersOfRunFolders) {
  const std::string answer = fmt::format("```\n{}```\n", kModule);
  for (const char* name :
       {"0.txt", "1_response.md", "2_prompt.txt", "2_kernel.py", "2.txt", "2_response.txt"})
    scratch_.write(fmt::format("runs/level_1_problem_19_sample_{}", name), answer);
  EXPECT_THAT(found("runs"), ElementsAre("level1/19_ReLU runs 0", "level1/19_ReLU runs 1",
                                         "level1/19_ReLU runs 2"));
  EXPECT_EQ(result_.candidates[2].path.extension(), ".py") << "the code that was taken out of it";
}

TEST_F(Discovery, ASourceThatAModuleLoadsIsPartOfIt) {
  scratch_.write("m/19_ReLU/0.py", "load('e', ['csrc/relu.cu', '1.cu'])");
  scratch_.write("m/19_ReLU/csrc/relu.cu", "one");
  scratch_.write("m/19_ReLU/csrc/other.cu", "two");
  scratch_.write("m/19_ReLU/1.cu", "a sample of its own, whoever names it");
  EXPECT_THAT(found("m"),
              ElementsAre("level1/19_ReLU m 0", "level1/19_ReLU m 1", "level1/19_ReLU m 2"));
  EXPECT_THAT(result_.notes, ElementsAre(HasSubstr("csrc/relu.cu is loaded by")));
}

TEST_F(Discovery, NamesThatAreNoUtf8AreWrittenAsSuch) {
  scratch_.write("caf\xe9/19_ReLU/b\xff\xfe.cu", kKernel);
  EXPECT_THAT(found(""), ElementsAre("level1/19_ReLU caf\xef\xbf\xbd 0"));
  EXPECT_THAT(result_.candidates[0].id, testing::EndsWith("/b\xef\xbf\xbd\xef\xbf\xbd.cu"));
  EXPECT_TRUE(fs::exists(result_.candidates[0].path));
}

TEST_F(Discovery, CodeBesideItsAnswerStandsForIt) {
  scratch_.write("m/19_ReLU/0.md", fmt::format("```\n{}```\n", kModule));
  scratch_.write("m/19_ReLU/0.cu", kKernel);
  EXPECT_THAT(found("m"), ElementsAre("level1/19_ReLU m 0"));
  EXPECT_EQ(result_.candidates[0].kind, CandidateKind::kKernel);
}

TEST_F(Discovery, AnAnswerThatNamesAnotherProblemInItsCode) {
  const fs::path path =
      scratch_.write("m/19_ReLU/0.md", fmt::format("```\n//@ problem 100_Loss\n{}```\n", kKernel));
  EXPECT_THAT(found("m"), ElementsAre("level1/19_ReLU m 0"));
  EXPECT_EQ(result_.candidates[0].reject_cause, "other_problem");
  scratch_.write("m/19_ReLU/0.md", "Sorry.");
  EXPECT_THAT(found("m"), ElementsAre("level1/19_ReLU m 0"));
  EXPECT_EQ(result_.candidates[0].reject_cause, "no_code_block");
}

TEST_F(Discovery, SamplesCountOnAcrossSources) {
  scratch_.write("b/19_ReLU/x.cu", kKernel);
  scratch_.write("a/19_ReLU/x.cu", kKernel);
  scratch_.write("c/level_1_problem_19_sample_4_kernel.py", kModule);
  result_ = find_candidates({{"m", scratch_ / "b"}, {"m", scratch_ / "a"}, {"m", scratch_ / "c"}},
                            problems_);
  EXPECT_THAT(summary(),
              ElementsAre("level1/19_ReLU m 4", "level1/19_ReLU m 5", "level1/19_ReLU m 6"));
  EXPECT_EQ(result_.candidates[1].path, scratch_ / "b/19_ReLU/x.cu");
}

TEST_F(Discovery, TheSameTwiceIsAnError) {
  scratch_.write("a/m/19_ReLU/x.cu", kKernel);
  const std::vector<CandidateSource> twice = {{{}, scratch_ / "a"}, {{}, scratch_ / "a/m"}};
  EXPECT_THROW(find_candidates(twice, problems_), UsageError);
  const std::vector<CandidateSource> other_model = {{{}, scratch_ / "a"}, {"n", scratch_ / "a"}};
  EXPECT_EQ(find_candidates(other_model, problems_).candidates.size(), 2u);
  fs::create_symlink("x.cu", scratch_ / "a/m/19_ReLU/y.cu");
  EXPECT_THAT(usage_error("a"), HasSubstr("also given as"));
  scratch_.write("runs/one/level_1_problem_19_sample_0_kernel.py", kModule);
  scratch_.write("runs/two/level_1_problem_19_sample_0_kernel.py", kModule);
  EXPECT_THAT(usage_error("runs", "same"),
              AllOf(HasSubstr("sample 0"), HasSubstr("runs/one"), HasSubstr("runs/two")));
}

TEST_F(Discovery, LinksAreFollowedWithinTheSourceOnly) {
  scratch_.write("secret/19_ReLU/hidden.cu", kKernel);
  scratch_.write("root/m/19_ReLU/x.cu", kKernel);
  fs::create_directory_symlink("m", scratch_ / "root/n");
  fs::create_directory_symlink(scratch_ / "secret", scratch_ / "root/out");
  fs::create_directory_symlink(scratch_ / "root", scratch_ / "root/m/loop");
  fs::create_symlink(scratch_ / "secret/19_ReLU/hidden.cu", scratch_ / "root/m/19_ReLU/y.cu");
  fs::create_symlink("nowhere.cu", scratch_ / "root/m/19_ReLU/z.cu");
  problems_.resize(1);
  EXPECT_THAT(found("root"),
              ElementsAre("level1/19_ReLU m 0", "level1/19_ReLU m 1", "level1/19_ReLU m 2",
                          "level1/19_ReLU n 0", "level1/19_ReLU n 1", "level1/19_ReLU n 2"));
  EXPECT_THAT(result_.notes, ElementsAre(HasSubstr("root/out is a link that leaves")));
  for (const Candidate& each : result_.candidates) {
    if (each.path.filename() == "x.cu") continue;
    EXPECT_EQ(each.reject_cause, "unreadable");
    EXPECT_THAT(each.source, IsEmpty());
  }
  EXPECT_THAT(usage_error("root", "one"), HasSubstr("also given as"));
}

TEST_F(Discovery, AFileThatHoldsNoCodeSaysSo) {
  const std::vector<std::pair<std::string, std::string>> nothing = {
      {"0.py", "None"},
      {"1.py", "\nNone\n"},
      {"2.py", "# ModelNew will stand here\n\n#\n"},
      {"3.py", "```python\n```\n"},
      {"4.py", "```python\nNone\n```\n"},
      {"5.cu", "// nothing\n/* and\n   nothing */ // at all\n"},
      {"6.cu", "None\n"},
  };
  for (const auto& [name, text] : nothing) scratch_.write("m/19_ReLU/" + name, text);
  found("m");
  ASSERT_EQ(result_.candidates.size(), nothing.size());
  for (const Candidate& each : result_.candidates) {
    EXPECT_EQ(each.reject_cause, "no_code") << each.id;
    EXPECT_THAT(each.reject_message, HasSubstr("There is no code")) << each.id;
  }
  EXPECT_THAT(result_.candidates[0].reject_message, HasSubstr("`None`"));
}

TEST_F(Discovery, AFileThatHoldsCodeBesideCommentsIsCode) {
  const std::vector<std::pair<std::string, std::string>> something = {
      {"0.py", "# as in kernels/*\n" + std::string(kModule)},
      {"1.py", "None\nimport torch\n"},
      {"2.cu", "/* a */ " + std::string(kKernel)},
      {"3.cu", "//@ out y like x\n"},
      {"4.cu", "/* a comment without an end\n"},
      {"5.cu", "#include <cuda_runtime.h>\n"},
      {"6.py", "Nonesuch\n"},
  };
  for (const auto& [name, text] : something) scratch_.write("m/19_ReLU/" + name, text);
  found("m");
  ASSERT_EQ(result_.candidates.size(), something.size());
  for (const Candidate& each : result_.candidates) EXPECT_EQ(each.reject_cause, "") << each.id;
}

TEST_F(Discovery, WhatIsNoCodeStaysAsRejected) {
  scratch_.write("m/19_ReLU/1.cu", "");
  scratch_.write("m/19_ReLU/2.py", " \n\n");
  scratch_.write("m/19_ReLU/3.cu", "\xff\xfe code");
  const fs::path huge = scratch_.write("m/19_ReLU/4.cu", "");
  fs::resize_file(huge, 100u << 20);
  ASSERT_EQ(::mkfifo((scratch_ / "m/19_ReLU/5.cu").c_str(), 0600), 0);
  const auto start = std::chrono::steady_clock::now();
  found("m");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  std::vector<std::string> causes;
  for (const Candidate& each : result_.candidates) {
    causes.push_back(each.reject_cause);
    EXPECT_THAT(each.source, IsEmpty());
    EXPECT_FALSE(each.reject_message.empty());
  }
  EXPECT_THAT(causes, ElementsAre("empty", "empty", "not_utf8", "oversized", "unreadable"));
  EXPECT_THAT(result_.candidates[3].reject_message, HasSubstr("104857600"));
}

TEST_F(Discovery, AnUnreadableFileIsRejected) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(scratch_.write("m/19_ReLU/1.cu", kKernel), fs::perms::none);
  found("m");
  EXPECT_EQ(result_.candidates.at(0).reject_cause, "unreadable");
  EXPECT_THAT(result_.candidates[0].reject_message, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "kbench/problem.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/test_folder.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr std::string_view kSource =
    "import torch\n"
    "\n"
    "batch_size = 4096  # rows\n"
    "dim = (1024, 2)\n"
    "\n"
    "class Model(torch.nn.Module):\n"
    "    width = 3\n"
    "    def forward(self, x):\n"
    "        return x\n"
    "\n"
    "def get_inputs():\n"
    "    return [torch.rand(batch_size)]\n"
    "def get_init_inputs():\n"
    "    return []\n";

std::vector<std::string> keys(const std::vector<Problem>& problems) {
  std::vector<std::string> keys;
  keys.reserve(problems.size());
  for (const Problem& problem : problems) keys.push_back(problem.key);
  return keys;
}

std::string usage_error(const std::vector<std::string>& patterns,
                        const std::vector<fs::path>& sets = {}) {
  try {
    find_problems(patterns, sets);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

/// A set of a few problems over two levels.
class ProblemSet : public testing::Test {
 protected:
  ProblemSet() {
    for (const char* file :
         {"level1/19_ReLU.py", "level1/2_Sum_.py", "level1/33_BatchNorm.py", "level1/100_Loss.py",
          "level2/19_Conv_ReLU.py", "level2/40_LayerNorm.py"}) {
      scratch_.write(fmt::format("set/{}", file), kSource);
    }
    scratch_.write("set/level1/__init__.py", "");
    scratch_.write("set/level1/helper.py", "class ModelConfig: pass\ndef get_inputs(): pass\n");
    sets_ = {scratch_ / "set"};
  }

  std::vector<std::string> found(const std::vector<std::string>& patterns) const {
    return keys(find_problems(patterns, sets_));
  }

  ScratchFolder scratch_;
  std::vector<fs::path> sets_;
};

TEST_F(ProblemSet, ReadsWhatAPathSays) {
  const Problem problem = find_problems({"19_ReLU"}, sets_).at(0);
  EXPECT_EQ(problem.id, "19");
  EXPECT_EQ(problem.name, "19_ReLU");
  EXPECT_EQ(problem.key, "level1/19_ReLU");
  EXPECT_EQ(problem.level, 1);
  EXPECT_EQ(problem.source, kSource);
  EXPECT_EQ(problem.path, scratch_ / "set/level1/19_ReLU.py");
}

TEST_F(ProblemSet, NoPatternMeansAllInNaturalOrder) {
  EXPECT_THAT(found({}),
              ElementsAre("level1/2_Sum_", "level1/19_ReLU", "level1/33_BatchNorm",
                          "level1/100_Loss", "level2/19_Conv_ReLU", "level2/40_LayerNorm"));
}

TEST_F(ProblemSet, NamesInEverySpelling) {
  for (const char* name : {"19_ReLU", "level1/19_ReLU", "level_1/19_ReLU", "level1/19", "relu",
                           "ReLU", "19_relu", "level1/relu", "LEVEL1/19_RELU"}) {
    EXPECT_THAT(found({name}), ElementsAre("level1/19_ReLU")) << name;
  }
  EXPECT_THAT(found({"sum"}), ElementsAre("level1/2_Sum_"));
  EXPECT_THAT(found({"100"}), ElementsAre("level1/100_Loss"));
  EXPECT_THAT(found({"level2"}), ElementsAre("level2/19_Conv_ReLU", "level2/40_LayerNorm"));
}

TEST_F(ProblemSet, GlobsOnKeysInAnyCase) {
  EXPECT_THAT(found({"level1/*norm*"}), ElementsAre("level1/33_BatchNorm"));
  EXPECT_THAT(found({"*norm"}), ElementsAre("level1/33_BatchNorm", "level2/40_LayerNorm"));
  EXPECT_THAT(found({"19_*"}), ElementsAre("level1/19_ReLU", "level2/19_Conv_ReLU"));
}

TEST_F(ProblemSet, EachFileOnce) {
  EXPECT_THAT(found({"relu", "level1/19*", (scratch_ / "set/level1/19_ReLU.py").string()}),
              ElementsAre("level1/19_ReLU"));
}

TEST_F(ProblemSet, PathsAndNamesBelowThem) {
  const std::string set = scratch_ / "set";
  EXPECT_THAT(keys(find_problems({set + "/level2/"}, {})),
              ElementsAre("level2/19_Conv_ReLU", "level2/40_LayerNorm"));
  EXPECT_THAT(keys(find_problems({set + "/level*/*Norm.py"}, {})),
              ElementsAre("level1/33_BatchNorm", "level2/40_LayerNorm"));
  EXPECT_THAT(keys(find_problems({set + "/level1/relu"}, {})), ElementsAre("level1/19_ReLU"));
  EXPECT_THAT(keys(find_problems({set + "/*norm"}, {})),
              ElementsAre("level1/33_BatchNorm", "level2/40_LayerNorm"));
}

TEST_F(ProblemSet, AProblemKnowsTheArgumentThatNamesIt) {
  EXPECT_EQ(find_problems({"relu"}, sets_)[0].argument, "level1/19_ReLU");
  const std::string path = scratch_ / "set/level1/19_ReLU.py";
  EXPECT_EQ(find_problems({path}, {})[0].argument, path);
  for (const Problem& problem : find_problems({scratch_ / "set"}, {}))
    EXPECT_EQ(find_problems({problem.argument}, {})[0].key, problem.key);
}

TEST_F(ProblemSet, AnAmbiguousNameListsWhatItMayBe) {
  EXPECT_THAT(usage_error({"19"}, sets_),
              AllOf(HasSubstr("\"19\""), HasSubstr("level1/19_ReLU or level2/19_Conv_ReLU")));
}

TEST_F(ProblemSet, AnUnknownNameSaysWhereItWasSoughtAndWhatIsNear) {
  const std::string message = usage_error({"19_RelUU"}, sets_);
  EXPECT_THAT(message, AllOf(HasSubstr("\"19_RelUU\""), HasSubstr((scratch_ / "set").string()),
                             HasSubstr("did you mean level1/19_ReLU")));
  EXPECT_THAT(usage_error({"batchnom"}, sets_), HasSubstr("level1/33_BatchNorm"));
  EXPECT_THAT(usage_error({"lvel1"}, sets_), HasSubstr("did you mean level1?"));
  EXPECT_THAT(usage_error({"zzzzzz"}, sets_), HasSubstr("kbench list"));
  EXPECT_THAT(usage_error({(scratch_ / "set/level1/19_RuLU.py").string()}, {}),
              HasSubstr("set/level1/19_ReLU.py"));
}

TEST_F(ProblemSet, AnEmptyFolderDoesNotHideAName) {
  fs::create_directories(scratch_ / "cwd/relu");
  const fs::path before = fs::current_path();
  fs::current_path(scratch_ / "cwd");
  EXPECT_THAT(found({"relu"}), ElementsAre("level1/19_ReLU"));
  fs::current_path(scratch_ / "set/level1");
  EXPECT_THAT(keys(find_problems({"19_ReLU.py"}, {})), ElementsAre("level1/19_ReLU"));
  EXPECT_THAT(keys(find_problems({"."}, {})).size(), 4u);
  fs::current_path(before);
}

TEST_F(ProblemSet, ACheckoutIsSearchedForItsLevels) {
  scratch_.write("checkout/KernelBench/level1/19_ReLU.py", kSource);
  scratch_.write("checkout/src/prompts/model_ex_add.py", kSource);
  scratch_.write("checkout/scripts/model_ex_add.py", kSource);
  scratch_.write("checkout/.venv/level1/19_ReLU.py", kSource);
  scratch_.write("checkout/KernelBench/runs/level1/19_ReLU/19_ReLU.py", kSource);
  EXPECT_THAT(keys(find_problems({(scratch_ / "checkout").string()}, {})),
              ElementsAre("level1/19_ReLU"));
  EXPECT_THAT(keys(find_problems({(scratch_ / "checkout/scripts").string()}, {})),
              ElementsAre("model_ex_add"));
}

TEST_F(ProblemSet, TwoFilesOfOneKeyAreNamed) {
  scratch_.write("other/level1/19_ReLU.py", kSource);
  const std::string message =
      usage_error({(scratch_ / "set").string(), (scratch_ / "other").string()});
  EXPECT_THAT(message, AllOf(HasSubstr("set/level1/19_ReLU.py"),
                             HasSubstr("other/level1/19_ReLU.py"), HasSubstr("two files")));
}

TEST_F(ProblemSet, LinksThatLoopEnd) {
  fs::create_directory_symlink(scratch_ / "set", scratch_ / "set/level2/again");
  fs::create_directories(scratch_ / "loop/a");
  fs::create_directory_symlink(scratch_ / "loop", scratch_ / "loop/a/back");
  scratch_.write("loop/mine.py", kSource);
  EXPECT_EQ(found({}).size(), 6u);
  EXPECT_THAT(keys(find_problems({(scratch_ / "loop").string()}, {})), ElementsAre("mine"));
}

TEST(FindProblems, FaultyFilesAreOneSentence) {
  const ScratchFolder scratch;
  const auto message = [&](std::string_view name, std::string_view content) {
    return usage_error({scratch.write(name, content).string()});
  };
  EXPECT_THAT(message("a.py", ""), HasSubstr("a.py is empty"));
  EXPECT_THAT(message("b.py", "\n  \n"), HasSubstr("b.py is empty"));
  EXPECT_THAT(message("c.py", "x = '\xff'\n"), HasSubstr("c.py is not UTF-8"));
  EXPECT_THAT(message("d.py", "class Models: pass\n class Model: pass\n"),
              HasSubstr("has no \"class Model\""));
  EXPECT_THAT(message("e.py", "class Model: pass\n"), HasSubstr("has no get_inputs()"));
  EXPECT_THAT(message("f.txt", kSource), HasSubstr(".py file"));
  EXPECT_THAT(usage_error({""}), HasSubstr("empty"));
  EXPECT_THAT(usage_error({"relu"}, {scratch / "nowhere"}), HasSubstr("nowhere is not a folder"));
  fs::create_directories(scratch / "hollow");
  EXPECT_THAT(usage_error({(scratch / "hollow").string()}), HasSubstr("holds no problem"));
  fs::create_directories(scratch / "folder.py");
  EXPECT_THAT(usage_error({(scratch / "folder.py").string()}), HasSubstr("holds no problem"));
  if (::geteuid() != 0) {
    fs::permissions(scratch.write("g.py", kSource), fs::perms::none);
    EXPECT_THAT(usage_error({(scratch / "g.py").string()}), HasSubstr("Permission denied"));
  }
}

TEST(FindProblems, AFaultyFileOfALevelIsKeptForTheRunToBlame) {
  const ScratchFolder scratch;
  scratch.write("level1/1_a.py", "class Model: pass\n");
  EXPECT_THAT(keys(find_problems({scratch.path().string()}, {})), ElementsAre("level1/1_a"));
}

TEST(SizesJson, ValuesBecomePythonLiterals) {
  const ScratchFolder scratch;
  scratch.write("level1/1_a.py", fmt::format("n = 1000\n{}", kSource));
  constexpr std::string_view kCpu =
      R"j("n": 4, "eps": 0.5, "flag": true, "none": null, "shape": [1, [2, 3]], "t": "(1, 2)")j";
  constexpr std::string_view kRest =
      R"j("gpu": {"n": "1 << 20"}, "tiny": {"n": 1}, "tags": ["signed", "fp16"])j";
  scratch.write("sizes.json",
                fmt::format(R"({{"level1/1_a": {{"cpu": {{{}}}, {}}}}})", kCpu, kRest));
  const Problem problem = find_problems({}, {scratch.path()}).at(0);
  EXPECT_THAT(problem.tags, ElementsAre("signed", "fp16"));
  EXPECT_THAT(sizes_for(problem, "cpu", {}),
              ElementsAre(Pair("eps", "0.5"), Pair("flag", "True"), Pair("n", "4"),
                          Pair("none", "None"), Pair("shape", "[1, [2, 3]]"), Pair("t", "(1, 2)")));
  EXPECT_THAT(sizes_for(problem, "gpu", {{"n", "7"}}), ElementsAre(Pair("n", "7")));
  EXPECT_THAT(sizes_for(problem, "tiny", {{"m", "7"}}), ElementsAre(Pair("n", "1")));
  EXPECT_THAT(sizes_for(problem, "huge", {}), IsEmpty());
  EXPECT_NE(problem_hash(problem, {{"n", "7"}}), problem_hash(problem, {{"n", "8"}}));
  EXPECT_NE(problem_hash(problem, {{"n", "7"}}), problem_hash(problem, {}));
}

TEST(SizesJson, FaultsNameTheFileAndThePlace) {
  const ScratchFolder scratch;
  scratch.write("level1/1_alpha.py", kSource);
  const auto message = [&](std::string_view content) {
    scratch.write("sizes.json", content);
    return usage_error({}, {scratch.path()});
  };
  EXPECT_THAT(message("{\n\"a\": \n}"), HasSubstr("sizes.json:3: this is not JSON"));
  EXPECT_THAT(message("[]"), HasSubstr("object of problems"));
  EXPECT_THAT(message(R"({"level1/1_alpha": 3})"), HasSubstr("object of sizes"));
  EXPECT_THAT(message(R"({"level1/1_alpha": {"cpu": 3}})"), HasSubstr("object of constants"));
  EXPECT_THAT(message(R"({"level1/1_alpha": {"cpu": {"n": {}}}})"),
              HasSubstr("\"level1/1_alpha\": \"cpu\": \"n\" has to be a number"));
  EXPECT_THAT(message(R"({"level1/1_alpha": {"tags": "x"}})"), HasSubstr("list of strings"));
  EXPECT_THAT(message(R"({"level1/1_alhpa": {}})"), HasSubstr("did you mean \"level1/1_alpha\""));
}

TEST(ProblemConstants, AreTheModuleLevelAssignments) {
  Problem problem;
  problem.source = kSource;
  EXPECT_THAT(problem_constants(problem),
              ElementsAre(Pair("batch_size", "4096"), Pair("dim", "(1024, 2)")));
  problem.source = "a = b = 3\nn: int = 4\nm: int\nx == 2\nx.y = 1\nx[0] = 1\n1 = 2\nif a: b = 1\n";
  EXPECT_THAT(problem_constants(problem),
              ElementsAre(Pair("a", "3"), Pair("b", "3"), Pair("n", "4")));
  problem.source =
      "d, h, w = (16, (3, 5), [1, 2])  # sizes\nm, n = 1, 2\nf(a, b=3)\np, q = r\n"
      "s, t.u = 1, 2\nk, l = 3, 4,\n";
  EXPECT_THAT(problem_constants(problem),
              ElementsAre(Pair("d", "16"), Pair("h", "(3, 5)"), Pair("w", "[1, 2]"), Pair("m", "1"),
                          Pair("n", "2"), Pair("k", "3"), Pair("l", "4")));
}

TEST(ParseOverrides, TakesConstantsOfTheProblemsOnly) {
  Problem problem;
  problem.key = "level1/1_a";
  problem.source = kSource;
  EXPECT_THAT(parse_overrides({"dim=(3, 4)", "batch_size = 1 == 1"}, {problem}),
              ElementsAre(Pair("batch_size", "1 == 1"), Pair("dim", "(3, 4)")));
  const auto message = [](const char* setting,
                          const std::vector<Problem>& problems) -> std::string {
    try {
      parse_overrides({setting}, problems);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  for (const char* setting : {"dim", "=3", "dim=", "a b=3", "3=4"}) {
    EXPECT_THAT(message(setting, {problem}), HasSubstr("NAME=VALUE")) << setting;
  }
  EXPECT_THAT(message("batchsize=3", {problem}),
              AllOf(HasSubstr("level1/1_a has no module-level constant batchsize"),
                    HasSubstr("did you mean batch_size?")));
  EXPECT_THAT(message("zzz=3", {problem, problem}), HasSubstr("none of the problems has a"));
}

TEST(NaturalLess, ComparesNumbersAsNumbers) {
  std::vector<std::string> names = {"10_a",
                                    "2_b",
                                    "2_a",
                                    "a10",
                                    "a9",
                                    "01",
                                    "1",
                                    "",
                                    "1x",
                                    "99999999999999999999999",
                                    "100000000000000000000000"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_THAT(names,
              ElementsAre("", "01", "1", "1x", "2_a", "2_b", "10_a", "99999999999999999999999",
                          "100000000000000000000000", "a9", "a10"));
  EXPECT_FALSE(natural_less("a1", "a1"));
}

TEST(Text, Utf8IsCheckedToTheLastByte) {
  for (const char* good : {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80 and more"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xed\xa0\x80", "\xe0\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "longer text \xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(FindProblems, TwoHundredAndFiftyFilesTakeNoTime) {
  const ScratchFolder scratch;
  for (int i = 1; i <= 250; ++i) {
    scratch.write(fmt::format("level{}/{}_Problem.py", i % 3 + 1, i), kSource);
  }
  auto best = std::chrono::nanoseconds::max();
  for (int round = 0; round < 10; ++round) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(find_problems({}, {scratch.path()}).size(), 250u);
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
  }
  const double ms = std::chrono::duration<double, std::milli>(best).count();
  RecordProperty("milliseconds", fmt::format("{:.2f}", ms));
  EXPECT_LT(ms, 1000) << "10 ms are usual";
}

}  // namespace
}  // namespace kbench

// SPDX-License-Identifier: MIT
// What lies beside a module and travels with it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"
#include "kbench/candidate.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using testing::ElementsAre;

Problem problem() {
  Problem problem;
  problem.level = 1;
  problem.name = "a";
  problem.id = "a";
  problem.key = "level1/a";
  return problem;
}

TEST(LoadCandidate, BringsTheSourcesAlongThatAModuleNames) {
  const ScratchFolder scratch;
  scratch.write("a/relu.cu", "one");
  scratch.write("a/csrc/host.cpp", "two");
  scratch.write("a/csrc/parts.h", "three");
  scratch.write("a/unnamed.cu", "no");
  scratch.write("a/data.json", "no");
  scratch.write("other.cu", "no");
  fs::create_symlink(scratch / "other.cu", scratch / "a/link.cu");
  const auto path = scratch.write(
      "a/0.py",
      "load('e', ['relu.cu', \"./csrc/host.cpp\", '../other.cu', 'link.cu', 'no.cu', \n"
      "'data.json', 'parts.h', \"csrc\", '', '" +
          (scratch / "other.cu").string() + "'])");
  const Candidate candidate = load_candidate(path, problem(), "m", 0);
  EXPECT_THAT(candidate.files,
              ElementsAre(testing::Pair("csrc/host.cpp", "two"),
                          testing::Pair("csrc/parts.h", "three"), testing::Pair("relu.cu", "one")));
  Candidate other = candidate;
  EXPECT_EQ(candidate_hash(other), candidate_hash(candidate));
  other.files["relu.cu"] = "three";
  EXPECT_NE(candidate_hash(other), candidate_hash(candidate));
}

TEST(LoadCandidate, BringsAlongWhatItsSourcesInclude) {
  const ScratchFolder scratch;
  scratch.write("a/csrc/relu.cu",
                "#include \"kernel.cuh\"\n  #  include <wide.h>\n#include \"../top.h\"\n"
                "#include <torch/extension.h>\n#include \"../../outside.h\"\n// #includes \"x.h\"\n"
                "#include \"unended.h\n");
  scratch.write("a/csrc/kernel.cuh", "#include \"deep/er.h\"\n");
  scratch.write("a/csrc/deep/er.h", "#include \"../kernel.cuh\"");
  scratch.write("a/include/wide.h", "wide");
  scratch.write("a/top.h", "top");
  scratch.write("a/unended.h", "no");
  scratch.write("a/other.h", "no");
  scratch.write("outside.h", "no");
  const auto path = scratch.write(
      "a/0.py", "load('e', ['csrc/relu.cu'], extra_include_paths=['include', 'csrc'])");
  const Candidate candidate = load_candidate(path, problem(), "m", 0);
  std::vector<std::string> names;
  for (const auto& [name, text] : candidate.files) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("csrc/deep/er.h", "csrc/kernel.cuh", "csrc/relu.cu",
                                 "include/wide.h", "top.h"));
}

std::vector<std::string> names_of(const Candidate& candidate) {
  std::vector<std::string> names;
  for (const auto& [name, text] : candidate.files) names.push_back(name);
  return names;
}

Problem other_problem() {
  Problem other = problem();
  other.name = other.id = "b";
  other.key = "level1/b";
  return other;
}

TEST(LoadCandidate, LeavesWhatIsNamedAsASample) {
  const ScratchFolder scratch;
  for (const char* name : {"1.cu", "sample_2.cu", "level_1_problem_3_sample_4_kernel.cu", "3.h",
                           "kernel_2.cu", "csrc/1.cu", "csrc/all.cu"})
    scratch.write(std::string("a/") + name, name);
  fs::create_symlink("1.cu", scratch / "a/harmless.cu");
  scratch.write("a/csrc/all.cu", "#include \"../1.cu\"\n#include \"../sample_2.cu\"\n");
  const auto path = scratch.write(
      "a/0.py",
      "load('e', ['1.cu', 'sample_2.cu', './csrc/../1.cu', 'harmless.cu', 'kernel_2.cu', '3.h',\n"
      "'level_1_problem_3_sample_4_kernel.cu', 'csrc/1.cu', 'csrc/all.cu'])");
  EXPECT_THAT(names_of(load_candidate(path, problem(), "m", 0)),
              ElementsAre("3.h", "csrc/1.cu", "csrc/all.cu", "kernel_2.cu"));
}

TEST(FindCandidates, NoSampleComesAlongWithAnother) {
  const ScratchFolder scratch;
  const Problem problems[] = {problem(), other_problem()};
  const std::string plan = "//@ out y\n";
  scratch.write("m/a/0.py", "load('e', ['mine.cu', 'csrc/part.cu', 'b/theirs.cu', 'parts.cuh'])");
  scratch.write("m/a/mine.cu", plan);
  scratch.write("m/a/csrc/part.cu", "#include \"../mine.cu\"\n#include \"more.h\"\n");
  scratch.write("m/a/csrc/more.h", "more");
  scratch.write("m/a/parts.cuh", "parts");
  scratch.write("m/a/b/theirs.cu", "//@ problem level1/b\n" + plan);
  for (const std::size_t asked : {1u, 2u}) {
    const auto found =
        find_candidates({{std::nullopt, scratch / "m"}}, {problems, problems + asked});
    ASSERT_EQ(found.candidates.size(), 3u);
    // Of a, where b is not asked for: its line contradicts its path, and it stays a sample.
    EXPECT_EQ(found.candidates[2].reject_cause, asked == 1 ? "other_problem" : "");
    EXPECT_EQ(found.candidates[0].path.filename(), "0.py");
    EXPECT_THAT(names_of(found.candidates[0]),
                ElementsAre("csrc/more.h", "csrc/part.cu", "parts.cuh"));
    EXPECT_THAT(found.notes,
                testing::Contains(testing::AllOf(testing::HasSubstr("a/mine.cu is not sent with"),
                                                 testing::HasSubstr("into a folder below it"))));
  }
}

TEST(LeftOut, TheFirstAreNamedAndAllAreCounted) {
  const ScratchFolder scratch;
  for (int i = 0; i < 7; ++i)
    scratch.write(fmt::format("me/20_Tanh/{}.cu", i), "//@ out y like x\n");
  const LeftOut left_out = find_candidates({{std::nullopt, scratch / "me"}}, {}).left_out;
  EXPECT_EQ(left_out.count, 7u);
  EXPECT_EQ(left_out_text(left_out),
            fmt::format("7 candidates belong to no problem of the run: {0}/0.cu, {0}/1.cu, "
                        "{0}/2.cu, {0}/3.cu, {0}/4.cu, 2 more",
                        (scratch / "me/20_Tanh").string()));
  EXPECT_EQ(left_out_text({.count = 1, .first = {"a.cu"}}),
            "1 candidate belongs to no problem of the run: a.cu");
}

}  // namespace
}  // namespace kbench

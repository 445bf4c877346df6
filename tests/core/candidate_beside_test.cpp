// SPDX-License-Identifier: MIT
// What lies beside a module and travels with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.hpp"
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

}  // namespace
}  // namespace kbench

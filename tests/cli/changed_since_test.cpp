// SPDX-License-Identifier: MIT
#include "cli/options/changed_since.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"
#include "os/find_program.hpp"
#include "os/subprocess.hpp"

namespace kbench::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A repository with a problem and a candidate for each of these names.
class ChangedSince : public testing::Test {
 protected:
  void SetUp() override {
    const auto git = find_program("git");
    if (!git) GTEST_SKIP() << "there is no git";
    git_ = git->string();
    for (const std::string name : {"same", "edited", "part", "problem", "new"}) {
      Problem problem;
      problem.key = name;
      problem.path = folder_.write("set/" + name + ".py", "1");
      input_.problems.push_back(problem);
      Candidate candidate;
      candidate.problem = candidate.id = name;
      candidate.path = folder_.path() / "kernels" / name / "0.py";
      if (name != "new") folder_.write("kernels/" + name + "/0.py", "1");
      input_.candidates.push_back(candidate);
    }
    input_.candidates[2].files = {{"parts/a.cuh", "1"}};
    folder_.write("kernels/part/parts/a.cuh", "1");
    input_.candidates.emplace_back().problem = "same";  // a missing one
    input_.candidates.back().id = "missing";
  }

  void run(std::vector<std::string> words) const {
    words.insert(words.begin(), {git_, "-C", folder_.path().string(), "-c", "user.name=a", "-c",
                                 "user.email=a@b"});
    const CommandResult result = run_command({words, {}, {}}, std::chrono::seconds(60));
    ASSERT_TRUE(result.is_success()) << result.error;
  }
  void commit() const {
    run({"init", "--quiet"});
    run({"add", "."});
    run({"commit", "--quiet", "-m", "one"});
  }

  test::ScratchFolder folder_;
  EvalInput input_;
  std::string git_;
};

TEST_F(ChangedSince, KeepsWhatDiffersOrIsNotTracked) {
  commit();
  folder_.write("kernels/edited/0.py", "2");
  folder_.write("kernels/part/parts/a.cuh", "2");
  folder_.write("set/problem.py", "2");
  folder_.write("kernels/new/0.py", "1");
  keep_changed(input_, "HEAD");
  std::vector<std::string> candidates, problems;
  for (const Candidate& candidate : input_.candidates) candidates.push_back(candidate.problem);
  for (const Problem& problem : input_.problems) problems.push_back(problem.key);
  EXPECT_THAT(candidates, ElementsAre("edited", "part", "problem", "new"));
  EXPECT_EQ(problems, candidates);
  EXPECT_THAT(input_.unchanged, ElementsAre("same", "missing"));
  EXPECT_THAT(input_.notes, ElementsAre("4 of 6 candidates differ from HEAD"));
}

TEST_F(ChangedSince, WhatGitLacksIsOneSentence) {
  folder_.write("kernels/new/0.py", "1");
  EXPECT_THAT([&] { keep_changed(input_, "HEAD"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("--changed-since HEAD: git finds no"),
                                              HasSubstr("not a git repository"))));
  commit();
  for (const char* ref : {"origin/none", "--help"})
    EXPECT_THAT([&] { keep_changed(input_, ref); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr(std::string("--changed-since ") + ref),
                                                HasSubstr("has no such commit"))));
  const std::string path = environment_variable("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  EXPECT_THAT([&] { keep_changed(input_, "HEAD"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no git in PATH")));
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace kbench::cli

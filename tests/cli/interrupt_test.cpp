// SPDX-License-Identifier: MIT
// Ctrl-C at any time: finished records stay, children end, and the exit code is 130. Also two runs
// on one file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;

/// The number of processes of the built worker or compiler with this environment.
int count_children(pid_t group) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    if (!std::getline(stat, text)) continue;
    // pid (comm) state ppid pgrp …
    const auto after = text.rfind(") ");
    if (after == std::string::npos) continue;
    std::istringstream fields(text.substr(after + 2));
    char state = 0;
    long parent = 0;
    fields >> state >> parent;
    if (parent == group && state != 'Z') ++count;
  }
  return count;
}

/// A run of this many candidates, into run.jsonl.
SpawnOptions run_of(const TempFolder& folder, int candidates) {
  folder.write("set/level1/1_AddOne.py", add_one_problem(100));
  for (int i = 0; i < candidates; ++i)
    folder.write("candidates/me/1_AddOne/" + std::to_string(i) + ".cu",
                 add_one_kernel() + "// " + std::to_string(i) + "\n");
  SpawnOptions options;
  options.command = {std::string(KBENCH_BIN_DIR) + "/kbench",
                     "eval",
                     (folder.path() / "set").string(),
                     "--candidates",
                     (folder.path() / "candidates").string(),
                     "--device",
                     "cpu",
                     "--out",
                     (folder.path() / "run.jsonl").string()};
  options.env = test_environment();
  return options;
}

class Interrupt : public testing::TestWithParam<int> {};

TEST_P(Interrupt, EndsWith130AndKeepsWhatIsFinished) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  Child child(run_of(folder, 40));
  std::this_thread::sleep_for(std::chrono::milliseconds(GetParam()));
  const pid_t pid = child.pid();
  kill(pid, SIGINT);
  const auto status = child.wait();
  EXPECT_FALSE(status.signaled);
  // A fast machine may finish before the last delay.
  EXPECT_TRUE(status.code == 0 || status.code == 130) << status.code;
  EXPECT_EQ(count_children(pid), 0);
  if (!std::filesystem::exists(out) || std::filesystem::file_size(out) == 0) return;
  const auto run = read_run(out);
  EXPECT_FALSE(run.torn);
  EXPECT_TRUE(run.bad_lines.empty());
  EXPECT_EQ(run.secret.has_value(), status.code == 0);
  for (const auto& record : run.records) EXPECT_EQ(record.outcome, Outcome::kCorrect);
}

// Interrupts at times between the start of the worker and the middle of judging.
INSTANTIATE_TEST_SUITE_P(Delays, Interrupt, testing::Values(50, 600, 2500, 4500));

TEST(Interrupted, ByASignalThatComesTwiceItTellsWhereTheRecordsAre) {
  const TempFolder folder;
  const auto errors = folder.path() / "errors.txt";
  const Fd file(open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(file);
  SpawnOptions options = run_of(folder, 300);
  options.fds = {{file.value(), STDERR_FILENO}};
  Child child(options);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  // Like `timeout`, which signals kbench first, and then kbench's process group.
  for (int i = 0; i < 5; ++i) {
    kill(child.pid(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(child.wait().code, 130);
  std::ifstream text(errors);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(text), {}),
              HasSubstr("kbench: interrupted"));
}

TEST(Interrupted, AStreamSaysHowManyWereJudgedAndHowToGoOn) {
  const TempFolder folder;
  const auto problem = folder.write("level1/1_AddOne.py", add_one_problem(100));
  const auto errors = folder.path() / "errors.txt";
  const Fd file(open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  auto [input, child_input] = socket_pair();
  auto [output, child_output] = socket_pair();
  SpawnOptions options;
  options.command = {std::string(KBENCH_BIN_DIR) + "/kbench",
                     "eval",
                     problem.string(),
                     "--candidates",
                     "-",
                     "--device",
                     "cpu",
                     "--out",
                     (folder.path() / "run.jsonl").string()};
  options.env = test_environment();
  options.fds = {{child_input.value(), STDIN_FILENO},
                 {child_output.value(), STDOUT_FILENO},
                 {file.value(), STDERR_FILENO}};
  Child child(options);
  child_output = Fd();
  const nlohmann::json line{{"problem", "1_AddOne"}, {"kind", "response"}, {"source", "Sorry."}};
  ASSERT_TRUE(write_all(input.value(), line.dump() + "\n") > 0);
  for (char c = 0; c != '\n';) ASSERT_EQ(read(output.value(), &c, 1), 1) << "no answer";
  kill(child.pid(), SIGINT);
  EXPECT_EQ(child.wait().code, 130);
  std::ifstream text(errors);
  const std::string told(std::istreambuf_iterator<char>(text), {});
  EXPECT_THAT(told, HasSubstr("interrupted after 1 candidate; results are in"));
  EXPECT_THAT(told, HasSubstr("go on with --resume"));
}

/// Each build would use all of the candidate's compile limit.
TEST(Interrupted, ARunDoesNotWaitForBuildsThatWereOrdered) {
  const TempFolder folder;
  SpawnOptions options = run_of(folder, 0);
  folder.write("candidates/me/1_AddOne/0.py", R"(
from torch.utils.cpp_extension import load_inline

source = """
template <int D, unsigned long long N> struct Tree {
  static constexpr int value = Tree<D - 1, 2 * N>::value + Tree<D - 1, 2 * N + 1>::value;
};
template <unsigned long long N> struct Tree<0, N> { static constexpr int value = 1; };
torch::Tensor one(torch::Tensor x) { return x + Tree<40, %d>::value; }
"""
built = [load_inline(name=f"e{i}", cpp_sources=source % i, functions=["one"]) for i in range(8)]
)");
  const auto errors = folder.path() / "errors.txt";
  const Fd file(open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  options.fds = {{file.value(), STDERR_FILENO}};
  Child child(options);
  std::this_thread::sleep_for(std::chrono::seconds(8));
  kill(child.pid(), SIGTERM);
  // 30 s is shorter than the rest of a single build.
  pollfd ended{child.pidfd(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 30'000), 1);
  EXPECT_EQ(child.wait().code, 130);
  EXPECT_TRUE(read_run(folder.path() / "run.jsonl").records.empty());
}

TEST(TwoRuns, OnOneFileAreRefused) {
  const TempFolder folder;
  folder.write("set/level1/1_AddOne.py", add_one_problem(100));
  folder.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
  const auto out = folder.path() / "run.jsonl";
  const std::vector<std::string> arguments{"eval",         (folder.path() / "set").string(),
                                           "--candidates", (folder.path() / "candidates").string(),
                                           "--device",     "cpu",
                                           "--out",        out.string()};
  ASSERT_EQ(run_kbench(arguments).status.code, 0);
  std::ifstream before(out);
  const std::string text((std::istreambuf_iterator<char>(before)), {});
  RunWriter other(out, true);
  auto resumed = arguments;
  resumed.emplace_back("--resume");
  const auto result = run_kbench(resumed);
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("run.jsonl"));
  std::ifstream after(out);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(after)), {}), text);
}

TEST(FullDisk, IsOneSentenceAndEarlierRecordsStay) {
  const TempFolder folder;
  folder.write("set/level1/1_AddOne.py", add_one_problem(100));
  folder.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--out", "/dev/full"});
  EXPECT_NE(result.status.code, 0);
  EXPECT_EQ(error_lines(result).size(), 1u) << result.error;
}

}  // namespace
}  // namespace kbench::test

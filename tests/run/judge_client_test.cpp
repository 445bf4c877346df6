// SPDX-License-Identifier: MIT
#include "run/process/judge_client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "kbench/error.hpp"
#include "run/fake_host.hpp"

namespace kbench::run {
namespace {

auto opened(JudgeClient& judge, const nlohmann::json& problem) {
  judge.start_open(problem);
  return judge.finish_open();
}

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// A judge of one behaviour behind a fork server that behaves.
struct Bench {
  explicit Bench(const std::string& judge_mode, int cancel_fd = -1)
      : host(fake_installation("ok", judge_mode), cancel_fd, short_limits()),
        judge(std::make_unique<JudgeClient>(host, cancel_fd)) {}
  WorkerHost host;
  std::unique_ptr<JudgeClient> judge;
};

TEST(JudgeClient, DescribesAndOpens) {
  Bench bench("ok");
  EXPECT_EQ(std::get<Signature>(bench.judge->describe(json::object())).problem, "level1/1_Fake");
  EXPECT_EQ(std::get<Signature>(opened(*bench.judge, json::object())).inputs.size(), 1u);
  EXPECT_TRUE(bench.judge->healthy());
}

TEST(JudgeClient, SaysWhichTrivialAnswersPass) {
  Bench healthy("ok"), degenerate("degenerate");
  opened(*healthy.judge, json::object());
  EXPECT_EQ(healthy.judge->trivial_answers(), std::nullopt);
  opened(*degenerate.judge, json::object());
  EXPECT_EQ(degenerate.judge->trivial_answers(), std::vector<std::string>{"zeros"});
}

TEST(JudgeClient, AProblemsOwnFailureIsAnAnswer) {
  Bench bench("fails_problem");
  const auto answer = opened(*bench.judge, json::object());
  const auto& fault = std::get<ProblemFault>(answer);
  EXPECT_EQ(fault.cause, "import_failed");
  EXPECT_EQ(fault.message, "no module");
  EXPECT_EQ(fault.log, "line 1");
}

TEST(JudgeClient, ASourceThatIsNoUtf8IsSentAllTheSame) {
  Bench bench("ok");
  EXPECT_TRUE(std::holds_alternative<Signature>(opened(*bench.judge, {{"source", "\xff\xfe"}})));
}

class BadAnswer : public testing::TestWithParam<const char*> {};

TEST_P(BadAnswer, IsAnErrorForBothQuestions) {
  const Stopwatch watch;
  for (const bool describing : {true, false}) {
    Bench bench(GetParam());
    error_of([&] {
      if (describing)
        bench.judge->describe(json::object());
      else
        opened(*bench.judge, json::object());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Judges, BadAnswer,
                         testing::Values("dies_on_problem", "hangs_up_on_problem", "never_answers",
                                         "answers_no_json", "answers_another_json", "answers_half",
                                         "answers_out_of_turn", "fails_problem_halfway",
                                         "speaks_garbage"),
                         [](const auto& test) { return std::string(test.param); });

TEST(JudgeClient, AnAuditIsAnAnswerOrTheProblemsOwnFailure) {
  Bench bench("ok");
  opened(*bench.judge, json::object());
  const auto audited = bench.judge->audit();
  const auto& answers = std::get<AuditedAnswers>(audited);
  EXPECT_EQ(answers.answers.at("zeros").passes, true);
  EXPECT_EQ(answers.answers.at("zeros").tolerance, 3e-5);
  EXPECT_EQ(answers.distributions_left_out.at("nan"), "the reference is not finite");
  Bench failing("fails_audit");
  opened(*failing.judge, json::object());
  EXPECT_EQ(std::get<ProblemFault>(failing.judge->audit()).cause, "reference_raised");
}

TEST(JudgeClient, AnAuditThatIsNoneIsAnError) {
  for (const char* mode : {"dies_on_audit", "audits_half"}) {
    Bench bench(mode);
    opened(*bench.judge, json::object());
    EXPECT_THROW(bench.judge->audit(), Error) << mode;
  }
  Bench bench("never_audits");
  opened(*bench.judge, json::object());
  EXPECT_THROW(bench.judge->audit(), TookTooLong);
}

TEST(JudgeClient, ADeadJudgesErrorHoldsItsEndAndItsLastWords) {
  Bench bench("dies_on_problem");
  const auto said = error_of([&] { opened(*bench.judge, json::object()); });
  EXPECT_THAT(said, HasSubstr("signal 6"));
  EXPECT_THAT(said, HasSubstr("the reference went up in smoke"));
  // And it stays dead.
  EXPECT_THROW(bench.judge->healthy(), Error);
  EXPECT_THROW(opened(*bench.judge, json::object()), Error);
}

TEST(JudgeClient, ASilentJudgesErrorSaysThatItStillRuns) {
  Bench bench("never_answers");
  EXPECT_THAT(error_of([&] { opened(*bench.judge, json::object()); }), HasSubstr("still running"));
}

TEST(JudgeClient, OneThatDoesNotAnswerAProbeIsNotHealthy) {
  Bench silent("crash_then_silence");
  EXPECT_FALSE(silent.judge->healthy());
  Bench confused("crash_then_nonsense");
  EXPECT_FALSE(confused.judge->healthy());
  Bench dying("crash_then_dies");
  EXPECT_THROW(dying.judge->healthy(), Error);
}

TEST(JudgeClient, CancellingEndsTheWaitForAnAnswer) {
  const Stopwatch watch;
  const CancelSwitch cancel;
  Bench bench("never_answers", cancel.fd());
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(200));
    cancel.pull();
  });
  EXPECT_THROW(opened(*bench.judge, json::object()), Cancelled);
  later.join();
}

TEST(JudgeClient, OutlivesItsForkServer) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("dies_after_judge"), -1, short_limits());
  JudgeClient judge(host, -1);
  EXPECT_TRUE(judge.healthy());
  EXPECT_THROW(StartedCandidate(host, {}, 1u << 30), Error);
  EXPECT_THROW(JudgeClient(host, -1), Error);
}

TEST(JudgeClient, AWarmOneAnswersInTurn) {
  Bench bench("ok");
  bench.judge->warm("cuda:0");
  EXPECT_TRUE(std::holds_alternative<Signature>(opened(*bench.judge, json::object())));
  EXPECT_TRUE(bench.judge->healthy());
}

TEST(JudgeClient, SeesTheGpuThatItOrItsHostIsToSee) {
  WorkerHost host(fake_installation("ok", "tells_its_gpu"), -1, short_limits());
  host.show_gpu("GPU-1");
  const auto seen = [](JudgeClient& judge) {
    return std::get<ProblemFault>(judge.measure("cuda:0")).message;
  };
  JudgeClient of_host(host, -1);
  EXPECT_EQ(seen(of_host), "cuda:0 of GPU-1");
  JudgeClient of_device_queue(host, -1, "GPU-3");
  EXPECT_EQ(seen(of_device_queue), "cuda:0 of GPU-3");
}

TEST(PrivateFolder, IsGoneWithWhatWasPutIntoIt) {
  std::filesystem::path path;
  {
    const PrivateFolder folder;
    path = folder.path();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    std::filesystem::create_directories(path / "cache/deep");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PrivateFolder, IsGoneHoweverDeepItHasBecome) {
  std::filesystem::path path;
  {
    const PrivateFolder folder;
    path = folder.path();
    int at = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; ++i) {
      ASSERT_EQ(mkdirat(at, "deep", 0700), 0);
      close(std::exchange(at, openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    }
    close(at);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace kbench::run

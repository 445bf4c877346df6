// SPDX-License-Identifier: MIT
// What the job of a candidate's process holds of its problem. The fake worker tells values, and the
// fake candidate its job.
#include "run/process/problem_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "run/fake_host.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {
namespace {

using testing::HasSubstr;
using testing::Not;

CandidateJob job_of(CandidateKind kind, const std::string& source,
                    const std::string& precision = "native") {
  CandidateJob job;
  job.kind = kind;
  job.device = "cpu";
  job.module.file_name = "mine.py";
  job.module.source = "class ModelNew: pass";
  job.module.problem_path = "/some/where/1_Secret.py";
  job.module.problem_source = source;
  job.module.sizes = {{"rows", "seventy"}};
  job.module.precision = precision;
  return job;
}

const std::string kSource = "class Model: the_reference = 1";

/// The whole job that a candidate's process gets.
std::string job_text(CandidateJob job) {
  WorkerHost host(fake_installation("ok", "ok", "tells_its_job"), -1, short_limits());
  StartedCandidate candidate(host, std::move(job), std::size_t{1} << 30);
  candidate.wait_settled(std::chrono::seconds(3), -1);
  return candidate.log();
}

TEST(ProblemValues, AJobHasTheValuesAndNothingOfTheProblemItself) {
  const std::string text = job_text(job_of(CandidateKind::kModule, kSource));
  EXPECT_THAT(text, HasSubstr("values of 30 bytes"));
  EXPECT_THAT(text, HasSubstr("ModelNew"));
  for (const char* secret : {"the_reference", "Secret", "rows", "seventy"})
    EXPECT_THAT(text, Not(HasSubstr(secret)));
}

TEST(ProblemValues, AnExtensionAndAKernelGetNone) {
  for (const auto kind : {CandidateKind::kExtension, CandidateKind::kKernel}) {
    const std::string text = job_text(job_of(kind, kSource));
    for (const char* secret : {"values of", "the_reference", "Secret", "seventy"})
      EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
}

TEST(ProblemValues, ByKernelBenchsRulesTheFileIsThereWithoutItsFolder) {
  const std::string text = job_text(job_of(CandidateKind::kModule, kSource, "kb_fp32"));
  EXPECT_THAT(text, HasSubstr("the_reference"));
  EXPECT_THAT(text, HasSubstr("1_Secret.py"));
  EXPECT_THAT(text, Not(HasSubstr("/some/where")));
}

TEST(ProblemValues, AProblemThatFailsHasNone) {
  WorkerHost host(fake_installation("ok"), -1, short_limits());
  ModuleJob job = job_of(CandidateKind::kModule, "it fails").module;
  host.problem_values().put_into(job, CandidateKind::kModule);
  EXPECT_EQ(job.problem_values, "");
  EXPECT_EQ(job.problem_source, "");
}

TEST(ProblemValues, ThreadsThatAskTogetherGetTheSame) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok"), -1, short_limits());
  std::vector<std::future<std::string>> asked;
  for (int i = 0; i < 8; ++i)
    asked.push_back(std::async(std::launch::async, [&] {
      ModuleJob job = job_of(CandidateKind::kModule, kSource).module;
      host.problem_values().put_into(job, CandidateKind::kModule);
      return job.problem_values;
    }));
  for (auto& values : asked) EXPECT_EQ(values.get(), "values of 30 bytes");
}

TEST(ProblemValues, ACancelledRunDoesNotWaitForThem) {
  const Stopwatch watch(std::chrono::seconds(5));
  const CancelSwitch cancel;
  WorkerHost host(fake_installation("ok"), cancel.fd(), WorkerLimits{});
  host.torch_version();
  auto asked = std::async(std::launch::async, [&] {
    ModuleJob job = job_of(CandidateKind::kModule, "it sleeps").module;
    host.problem_values().put_into(job, CandidateKind::kModule);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  cancel.pull();
  EXPECT_THROW(asked.get(), Cancelled);
}

}  // namespace
}  // namespace kbench::run

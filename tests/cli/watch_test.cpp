// SPDX-License-Identifier: MIT
// Errors of kernels that the executor reports and a GPU hides, and the executor's counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A run of kernels for "add one to 1000 floats".
JudgedRun run_of(const std::map<std::string, std::string>& kernels,
                 const std::vector<std::string>& options = {}) {
  std::map<std::string, std::string> files{{"set/level1/1_AddOne.py", add_one_problem(1000)}};
  for (const auto& [name, text] : kernels) files["candidates/" + name] = text;
  return JudgedRun(files, options);
}

constexpr const char* kOffByOne = R"(//@ dims x[N]
//@ out y like x
//@ add_one<<<cdiv(N, 256), 256>>>(x, y, N)
template <typename T> __device__ T more(T v) { return v + 1; }

__global__ void add_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    y[i] = more(x[i]);
}
)";

/// Block 0 reads its part, which no block writes.
constexpr const char* kReadsScratch = R"(//@ dims x[N]
//@ tmp part: float32[cdiv(N, 256)]
//@ out y like x
//@ starts<<<cdiv(N, 256), 256>>>(x, part)
//@ add_one<<<cdiv(N, 256), 256>>>(x, part, y, N)
__global__ void starts(const float* x, float* part) {
  if (threadIdx.x == 0 && blockIdx.x > 0) part[blockIdx.x] = x[blockIdx.x * 256];
}
__global__ void add_one(const float* x, const float* part, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float start = part[blockIdx.x];
    y[i] = x[i] + (start == 12345.0f ? 2 : 1);
  }
}
)";

/// Most threads of a block do not wait for the others.
constexpr const char* kGoesAround = R"(//@ dims x[N]
//@ out y like x
//@ add_one<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void add_one(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x < 20) __syncthreads();
  if (i < n) y[i] = x[i] + 1;
}
)";

std::string filled_scratch() {
  std::string filled = kReadsScratch;
  filled.insert(filled.find("]\n//@ out") + 1, " = 0");
  return filled;
}

constexpr const char* kReadsClock = R"(//@ dims x[N]
//@ out y like x
//@ k<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = clock64() == 1 ? 0 : x[i] + 1;
}
)";

constexpr const char* kEndless = R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 32>>>(x, y)
__global__ void k(const volatile float* x, float* y) {
  while (x[0] == x[0]) y[threadIdx.x] = 1;
}
)";

/// Each thread reads another thread's element, without a barrier in between.
constexpr const char* kRaces = R"(//@ dims x[N]
//@ out y like x
//@ add_one<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void add_one(const float* x, float* y, int n) {
  __shared__ float row[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  row[threadIdx.x] = 0;
  __syncthreads();
  row[threadIdx.x] = i < n ? x[i] : 0;
  float next = row[(threadIdx.x + 32) % 256];
  if (i < n) y[i] = x[i] + 1 + (next == 12345.0f);
}
)";

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun = run_of({{"me/1_AddOne/off_by_one.cu", kOffByOne},
                                        {"you/1_AddOne/copy.cu", kOffByOne},
                                        {"me/1_AddOne/scratch.cu", kReadsScratch},
                                        {"me/1_AddOne/clock.cu", kReadsClock},
                                        {"me/1_AddOne/races.cu", kRaces}});
  return kRun;
}

TEST(Watch, AnOffByOneShowsTheLineTheThreadAndTheBuffer) {
  ASSERT_EQ(plain_run().result().status.code, 0) << plain_run().result().error;
  const Record& found = plain_run().of("off_by_one.cu");
  EXPECT_EQ(found.outcome, Outcome::kCrash);
  EXPECT_EQ(found.cause, "out_of_bounds_read");
  ASSERT_THAT(found.findings, SizeIs(1));
  const Finding& finding = found.findings[0];
  EXPECT_EQ(finding.kind, "fault");
  EXPECT_EQ(finding.kernel, "add_one");
  EXPECT_EQ(finding.line, 9);
  EXPECT_THAT(finding.file.str(), testing::EndsWith("1_AddOne/off_by_one.cu"));
  EXPECT_EQ(finding.block, (std::array<std::uint32_t, 3>{3, 0, 0}));
  EXPECT_EQ(finding.thread, (std::array<std::uint32_t, 3>{232, 0, 0}));
  EXPECT_EQ(finding.region, "input x");
  EXPECT_EQ(finding.offset_bytes, 4000);
  // The console breaks lines, so the whole text is only in the record's message.
  EXPECT_THAT(found.message, AllOf(HasSubstr("add_one: thread (232, 0, 0) of block (3, 0, 0)"),
                                   HasSubstr("offset 4000 of input x, which has 4000 bytes"),
                                   HasSubstr("off_by_one.cu:9)")));
  EXPECT_THAT(plain_run().result().output, HasSubstr("off_by_one.cu:9)"));
  EXPECT_THAT(plain_run().details_of("off_by_one.cu").at("findings"), SizeIs(1));
}

TEST(Watch, ACopyOfACandidateIsNamedByItsOwnPath) {
  // Equal code compiles once, but findings name the candidate's own file.
  for (const char* name : {"off_by_one.cu", "copy.cu"})
    EXPECT_THAT(plain_run().of(name).findings.at(0).file.str(), testing::EndsWith(name));
}

TEST(Watch, ScratchThatNobodyWroteIsAFlagWithItsLine) {
  const Record& found = plain_run().of("scratch.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << "it happens to be right";
  EXPECT_THAT(found.flags, ElementsAre("uninitialized_read"));
  ASSERT_THAT(found.findings, SizeIs(1)) << "one place, however often";
  const Finding& finding = found.findings[0];
  EXPECT_EQ(finding.kind, "uninitialized_read");
  EXPECT_EQ(finding.kernel, "add_one");
  EXPECT_EQ(finding.line, 12);
  EXPECT_EQ(finding.region, "scratch part");
  EXPECT_EQ(finding.offset_bytes, 0);
  EXPECT_GE(finding.count, 256u) << "each call's scratch is undefined anew";
  EXPECT_THAT(plain_run().result().output,
              AllOf(HasSubstr("Findings: 1 candidate of 5"), HasSubstr("scratch.cu:12)")));
}

TEST(Watch, ReadingAClockIsAFlag) {
  const Record& found = plain_run().of("clock.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  EXPECT_THAT(found.flags, ElementsAre("read_clock"));
}

TEST(Watch, RequireCleanRejectsWhatIsRightByChance) {
  const JudgedRun run = run_of({{"me/1_AddOne/scratch.cu", kReadsScratch},
                                {"me/1_AddOne/filled.cu", filled_scratch()},
                                {"me/1_AddOne/around.cu", kGoesAround},
                                {"me/1_AddOne/clock.cu", kReadsClock}},
                               {"--require", "clean"});
  const Record& found = run.of("scratch.cu");
  EXPECT_EQ(found.outcome, Outcome::kRejected);
  EXPECT_EQ(found.cause, "not_clean");
  EXPECT_THAT(found.message, AllOf(HasSubstr("uninitialized_read"), HasSubstr("scratch.cu:12)")));
  EXPECT_FALSE(found.timing);
  EXPECT_EQ(run.of("filled.cu").outcome, Outcome::kCorrect) << run.of("filled.cu").message;
  EXPECT_EQ(run.of("around.cu").cause, "not_clean");
  EXPECT_THAT(run.of("around.cu").message, HasSubstr("barrier_divergence"));
  EXPECT_EQ(run.of("clock.cu").outcome, Outcome::kRejected);
  EXPECT_EQ(run.of("clock.cu").cause, "not_clean");
}

TEST(Watch, ABarrierThatThreadsGoAroundIsAFlag) {
  const JudgedRun run = run_of({{"me/1_AddOne/around.cu", kGoesAround}});
  const Record& found = run.of("around.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  EXPECT_THAT(found.flags, ElementsAre("barrier_divergence"));
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].line, 6);
  EXPECT_EQ(found.findings[0].thread[0], 20u);
}

TEST(Watch, ARaceOnSharedMemoryIsFoundWhereAllIsLookedFor) {
  EXPECT_THAT(plain_run().of("races.cu").findings, IsEmpty());
  const JudgedRun run = run_of({{"me/1_AddOne/races.cu", kRaces}}, {"--sanitize", "all"});
  const Record& found = run.of("races.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  EXPECT_THAT(found.flags, ElementsAre("shared_race"));
  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.findings[0].line, testing::AnyOf(9, 10));
  EXPECT_EQ(found.findings[0].region, "shared memory");
  EXPECT_THAT(run.result().output, HasSubstr("shared_race: "));
}

TEST(Watch, WhereAllIsLookedForACleanCandidateHasNoFindings) {
  const JudgedRun run =
      run_of({{"me/1_AddOne/races.cu", kRaces}, {"me/1_AddOne/right.cu", add_one_kernel()}},
             {"--sanitize", "all", "--require", "clean"});
  EXPECT_EQ(run.of("races.cu").cause, "not_clean");
  const Record& found = run.of("right.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.findings_count, 0u);
  EXPECT_THAT(found.profile, IsEmpty());
  EXPECT_FALSE(found.estimate);
}

TEST(Watch, WithoutSanitizersNothingIsFoundBesideFaults) {
  const JudgedRun run = run_of({{"me/1_AddOne/scratch.cu", kReadsScratch},
                                {"me/1_AddOne/off_by_one.cu", kOffByOne},
                                {"me/1_AddOne/endless.cu", kEndless}},
                               {"--sanitize", "none", "--max-instructions", "100000"});
  EXPECT_THAT(run.of("scratch.cu").findings, IsEmpty());
  EXPECT_THAT(run.of("scratch.cu").flags, IsEmpty());
  EXPECT_EQ(run.of("off_by_one.cu").cause, "out_of_bounds_read");
  EXPECT_EQ(run.of("off_by_one.cu").findings.at(0).line, 9);
  EXPECT_EQ(run.of("endless.cu").outcome, Outcome::kTimeout);
  EXPECT_EQ(run.of("endless.cu").cause, "instruction_limit");
}

TEST(Watch, AProfileCountsOneCallAndEstimatesBothSides) {
  const JudgedRun run =
      run_of({{"me/1_AddOne/right.cu", add_one_kernel()}}, {"--profile", "--estimate-for", "A100"});
  ASSERT_EQ(run.result().status.code, 0) << run.result().error;
  const Record& found = run.of("right.cu");
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  ASSERT_THAT(found.profile, SizeIs(1));
  const KernelProfile& profile = found.profile[0];
  EXPECT_EQ(profile.kernel, "add_one");
  EXPECT_EQ(profile.grid, (std::array<std::uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(profile.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(profile.launches, 1u);
  const Counters& counters = profile.counters;
  EXPECT_EQ(total_flops(counters), 1000u);
  EXPECT_EQ(counters.unique_read_bytes, 4000u);
  EXPECT_EQ(counters.unique_written_bytes, 4000u);
  // 1000 threads are 31 whole warps and a quarter of one. Each warp loads once and stores once.
  EXPECT_EQ(counters.global_requests, 64u);
  EXPECT_EQ(counters.global_sectors, 250u);
  ASSERT_TRUE(found.estimate);
  EXPECT_EQ(found.estimate->gpu, "A100");
  // 8000 bytes at 2039 GB/s and a launch, for candidate and reference.
  EXPECT_NEAR(*found.estimate->candidate_ms, 0.003 + 8000 / 2.039e9, 1e-7);
  EXPECT_NEAR(*found.estimate->reference_ms, 0.003 + 8000 / 2.039e9, 1e-7);
  EXPECT_TRUE(found.speedup.empty()) << "an estimate is no speedup";
  EXPECT_THAT(run.result().output,
              AllOf(HasSubstr("estimate A100"), HasSubstr("Profile"),
                    HasSubstr("add_one<<<4, 256>>>"), HasSubstr("metrics do not count them")));
  EXPECT_EQ(run.details_of("right.cu").at("reference_operators").at(0).at("name"), "aten.add");
}

TEST(Watch, EndlessLoopsThatTheClockEndsSayWhereTheyWere) {
  const JudgedRun run = run_of({{"me/1_AddOne/a.cu", kEndless}}, {"--timeout", "0.5"});
  const Record& found = run.of("a.cu");
  EXPECT_EQ(found.outcome, Outcome::kTimeout);
  EXPECT_EQ(found.cause, "execution_limit");
  EXPECT_THAT(found.message, AllOf(HasSubstr("a.cu:5"), HasSubstr("is still running")));
}

TEST(Watch, MistakesAreUsage) {
  const TempFolder folder;
  folder.write("set/level1/1_AddOne.py", add_one_problem(1000));
  folder.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"eval", (folder.path() / "set").string(), "--candidates",
                                     (folder.path() / "candidates").string(), "--device", "cpu"});
    const auto result = run_kbench(options);
    EXPECT_EQ(result.status.code, 2);
    return result.error;
  };
  EXPECT_THAT(refused({"--profile", "--estimate-for", "H9000"}), HasSubstr("H9000"));
  EXPECT_THAT(refused({"--sanitize", "none", "--require", "clean"}), HasSubstr("--require clean"));
  refused({"--sanitize", "races"});
  refused({"--require", "speed"});
}

}  // namespace
}  // namespace kbench::test

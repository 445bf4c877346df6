// SPDX-License-Identifier: MIT
// What the executor tells of kernels that are wrong in ways a GPU keeps to itself, and what it
// counts: through the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Watch : public testing::Test {
 protected:
  /// Judges one kernel against "add one to 1000 floats", with a private cache of compilations.
  CommandResult eval(const std::string& source, std::vector<std::string> more = {}) {
    problem_ = folder_.write("set/level1/1_AddOne.py", add_one_problem(1000));
    candidate_ = folder_.write("candidates/me/1_AddOne/a.cu", source);
    std::vector<std::string> arguments{"eval",         (folder_.path() / "set").string(),
                                       "--candidates", (folder_.path() / "candidates").string(),
                                       "--device",     "cpu",
                                       "--out",        out().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::filesystem::remove(out());
    std::filesystem::remove(details_path(out()));
    return run_kbench(arguments);
  }
  std::filesystem::path out() const { return folder_.path() / "run.jsonl"; }
  Record record() {
    const auto records = whole_records(out());
    EXPECT_THAT(records, SizeIs(1));
    return records.at(0);
  }
  json details() {
    const auto where = record().details;
    if (!where) return {};
    std::ifstream file(details_path(out()), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(where->offset));
    std::string text(where->length, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    return json::parse(text);
  }

  TempFolder folder_;
  std::filesystem::path problem_, candidate_;
};

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

TEST_F(Watch, AnOffByOneShowsTheLineTheThreadAndTheBuffer) {
  const auto result = eval(kOffByOne);
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record found = record();
  EXPECT_EQ(found.outcome, Outcome::kCrash);
  EXPECT_EQ(found.cause, "out_of_bounds_read");
  ASSERT_THAT(found.findings, SizeIs(1));
  const Finding& finding = found.findings[0];
  EXPECT_EQ(finding.kind, "fault");
  EXPECT_EQ(finding.kernel, "add_one");
  EXPECT_EQ(finding.line, 9);
  EXPECT_THAT(finding.file.str(), testing::EndsWith("1_AddOne/a.cu"));
  EXPECT_EQ(finding.block, (std::array<std::uint32_t, 3>{3, 0, 0}));
  EXPECT_EQ(finding.thread, (std::array<std::uint32_t, 3>{232, 0, 0}));
  EXPECT_EQ(finding.region, "input x");
  EXPECT_EQ(finding.offset_bytes, 4000);
  // The console breaks lines: what belongs together is looked for in the message alone.
  EXPECT_THAT(found.message, AllOf(HasSubstr("add_one: thread (232, 0, 0) of block (3, 0, 0)"),
                                   HasSubstr("offset 4000 of input x, which has 4000 bytes"),
                                   HasSubstr("a.cu:9)")));
  EXPECT_THAT(result.output, HasSubstr("a.cu:9)"));
  EXPECT_THAT(details().at("findings"), SizeIs(1));
}

TEST_F(Watch, ACopyOfACandidateIsNamedByItsOwnPath) {
  // Equal code compiles once, whoever asked first.
  ASSERT_EQ(eval(kOffByOne).status.code, 0);
  folder_.write("candidates/you/1_AddOne/b.cu", kOffByOne);
  ASSERT_EQ(eval(kOffByOne).status.code, 0);
  std::vector<std::string> files;
  for (const auto& [id, each] : records_by_candidate(out()))
    files.push_back(std::filesystem::path(each.findings.at(0).file.str()).filename().string());
  EXPECT_THAT(files, testing::UnorderedElementsAre("a.cu", "b.cu"));
}

TEST_F(Watch, ACleanCandidateHasNoFindings) {
  ASSERT_EQ(eval(add_one_kernel(), {"--sanitize", "all", "--require", "clean"}).status.code, 0);
  const Record found = record();
  EXPECT_EQ(found.outcome, Outcome::kCorrect) << found.message;
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.findings_count, 0u);
  EXPECT_THAT(found.profile, IsEmpty());
  EXPECT_FALSE(found.estimate);
}

/// Block 0 never writes its part, and reads it all the same.
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

TEST_F(Watch, ScratchThatNobodyWroteIsAFlagWithItsLine) {
  const auto result = eval(kReadsScratch);
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record found = record();
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
  EXPECT_THAT(result.output, AllOf(HasSubstr("Findings: 1 candidate of 1"), HasSubstr("a.cu:12)")));
}

TEST_F(Watch, RequireCleanRejectsWhatIsRightByChance) {
  const auto result = eval(kReadsScratch, {"--require", "clean"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record found = record();
  EXPECT_EQ(found.outcome, Outcome::kRejected);
  EXPECT_EQ(found.cause, "not_clean");
  EXPECT_THAT(found.message, AllOf(HasSubstr("uninitialized_read"), HasSubstr("a.cu:12)")));
  EXPECT_FALSE(found.timing);
}

TEST_F(Watch, ScratchThatIsFilledIsNotUndefined) {
  std::string filled = kReadsScratch;
  filled.insert(filled.find("]\n//@ out") + 1, " = 0");
  ASSERT_EQ(eval(filled, {"--require", "clean"}).status.code, 0);
  EXPECT_EQ(record().outcome, Outcome::kCorrect) << record().message;
}

TEST_F(Watch, WithoutSanitizersNothingIsFoundBesideFaults) {
  ASSERT_EQ(eval(kReadsScratch, {"--sanitize", "none"}).status.code, 0);
  EXPECT_THAT(record().findings, IsEmpty());
  EXPECT_THAT(record().flags, IsEmpty());
  ASSERT_EQ(eval(kOffByOne, {"--sanitize", "none"}).status.code, 0);
  EXPECT_EQ(record().cause, "out_of_bounds_read");
  EXPECT_EQ(record().findings.at(0).line, 9);
}

TEST_F(Watch, AProfileCountsOneCallAndEstimatesBothSides) {
  const auto result = eval(add_one_kernel(), {"--profile", "--estimate-for", "A100"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record found = record();
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
  // 1000 threads are 31 whole warps and a quarter of one; each loads once and stores once.
  EXPECT_EQ(counters.global_requests, 64u);
  EXPECT_EQ(counters.global_sectors, 250u);
  ASSERT_TRUE(found.estimate);
  EXPECT_EQ(found.estimate->gpu, "A100");
  // 8000 bytes at 2039 GB/s, and a launch, on both sides.
  EXPECT_NEAR(*found.estimate->candidate_ms, 0.003 + 8000 / 2.039e9, 1e-7);
  EXPECT_NEAR(*found.estimate->reference_ms, 0.003 + 8000 / 2.039e9, 1e-7);
  EXPECT_TRUE(found.speedup.empty()) << "an estimate is no speedup";
  EXPECT_THAT(result.output, AllOf(HasSubstr("estimate A100"), HasSubstr("Profile"),
                                   HasSubstr("add_one<<<4, 256>>>"),
                                   HasSubstr("measurements and count in no metric")));
  EXPECT_EQ(details().at("reference_operators").at(0).at("name"), "aten.add");
}

TEST_F(Watch, AProfileIsRejectedWhereItsEstimateIsForAnUnknownGpu) {
  const auto result = eval(add_one_kernel(), {"--profile", "--estimate-for", "H9000"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("H9000"));
}

constexpr const char* kEndless = R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 32>>>(x, y)
__global__ void k(const volatile float* x, float* y) {
  while (x[0] == x[0]) y[threadIdx.x] = 1;
}
)";

TEST_F(Watch, EndlessLoopsEndAtTheInstructionLimit) {
  const auto result = eval(kEndless, {"--max-instructions", "100000"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_EQ(record().outcome, Outcome::kTimeout);
  EXPECT_EQ(record().cause, "instruction_limit");
}

TEST_F(Watch, EndlessLoopsThatTheClockEndsSayWhereTheyWere) {
  const auto result = eval(kEndless, {"--timeout", "0.5"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_EQ(record().outcome, Outcome::kTimeout);
  EXPECT_EQ(record().cause, "execution_limit");
  EXPECT_THAT(record().message, AllOf(HasSubstr("a.cu:5"), HasSubstr("is still running")));
}

TEST_F(Watch, ReadingAClockIsAFlagThatIsNotClean) {
  const std::string source = R"(//@ dims x[N]
//@ out y like x
//@ k<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = clock64() == 1 ? 0 : x[i] + 1;
}
)";
  ASSERT_EQ(eval(source).status.code, 0);
  EXPECT_EQ(record().outcome, Outcome::kCorrect) << record().message;
  EXPECT_THAT(record().flags, ElementsAre("read_clock"));
  ASSERT_EQ(eval(source, {"--require", "clean"}).status.code, 0);
  EXPECT_EQ(record().outcome, Outcome::kRejected);
  EXPECT_EQ(record().cause, "not_clean");
}

/// Each thread reads what its neighbour wrote, and no barrier stands in between.
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

TEST_F(Watch, ARaceOnSharedMemoryIsFoundWhereAllIsLookedFor) {
  ASSERT_EQ(eval(kRaces).status.code, 0);
  EXPECT_THAT(record().findings, IsEmpty());
  const auto result = eval(kRaces, {"--sanitize", "all"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_EQ(record().outcome, Outcome::kCorrect) << record().message;
  EXPECT_THAT(record().flags, ElementsAre("shared_race"));
  ASSERT_FALSE(record().findings.empty());
  EXPECT_THAT(record().findings[0].line, testing::AnyOf(9, 10));
  EXPECT_EQ(record().findings[0].region, "shared memory");
  EXPECT_THAT(result.output, HasSubstr("shared_race: "));
  ASSERT_EQ(eval(kRaces, {"--sanitize", "all", "--require", "clean"}).status.code, 0);
  EXPECT_EQ(record().cause, "not_clean");
}

TEST_F(Watch, RequireCleanNeedsTheSanitizers) {
  const auto result = eval(add_one_kernel(), {"--sanitize", "none", "--require", "clean"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("--require clean"));
  EXPECT_EQ(eval(add_one_kernel(), {"--sanitize", "races"}).status.code, 2);
  EXPECT_EQ(eval(add_one_kernel(), {"--require", "speed"}).status.code, 2);
}

}  // namespace
}  // namespace kbench::test

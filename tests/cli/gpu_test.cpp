// SPDX-License-Identifier: MIT
// Features that need a real GPU: locks, precision rows, baselines, and interrupted runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <csignal>
#include <map>
#include <thread>

#include "cli/gpu_fixture.hpp"
#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST_F(Gpu, OneRunAtATime) {
  const std::filesystem::path lock = "/tmp/kbench-locks/" + gpus_[0].uuid + ".lock";
  std::filesystem::create_directories(lock.parent_path());
  const Fd held(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(flock(held.value(), LOCK_EX | LOCK_NB), 0);
  const auto result = run_kbench(arguments({}));
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(error_lines(result), SizeIs(1));
  EXPECT_THAT(result.error, HasSubstr("in use by another kbench run"));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(Gpu, BothBaselinesAreTimedOnRequest) {
  const auto result = run_kbench(arguments({"--baseline", "eager,compile"}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(1));
  const Record& record = run.records[0];
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  ASSERT_THAT(record.speedup, SizeIs(2));
  EXPECT_EQ(record.speedup[0].baseline, "eager");
  EXPECT_EQ(record.speedup[1].baseline, "compile");
  for (const auto& speedup : record.speedup) {
    EXPECT_LE(speedup.lo, speedup.value);
    EXPECT_GE(speedup.hi, speedup.value);
    EXPECT_GT(speedup.value, 0.1);
  }
  EXPECT_EQ(record.timing->sides.size(), 3u);
  EXPECT_GE(record.timing->sides.at("candidate").count, 10);
  EXPECT_GT(record.timing->sides.at("candidate").clock_mhz.value_or(0), 100);
}

TEST_F(Gpu, StoredBaselinesServeKernelsAndModules) {
  const std::string stored = (folder_.path() / "stored.jsonl").string();
  const auto made = run_kbench({"baseline", (folder_.path() / "set").string(), "--device", "cuda:0",
                                "--out", stored, "--quiet"});
  ASSERT_EQ(made.status.code, 0) << made.error;
  folder_.write("candidates/them/1_AddOne/a.py",
                "import torch\n\n\nclass ModelNew(torch.nn.Module):\n"
                "    def forward(self, x):\n        return torch.add(x, 1)\n");
  const auto result = run_kbench(arguments({"--baseline-file", stored}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(2));
  for (const Record& record : run.records) {
    ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
    ASSERT_THAT(record.speedup, SizeIs(1)) << record.timing->method.str();
    EXPECT_TRUE(record.speedup[0].stored);
    if (record.kind != CandidateKind::kKernel) continue;
    // Both read and write all elements once, and neither time includes launch costs. The kernel
    // reads one number at a time, torch's four.
    EXPECT_EQ(record.timing->method, "gated");
    EXPECT_GT(record.speedup[0].value, 0.5);
    EXPECT_LT(record.speedup[0].value, 1.4);
  }
}

TEST_F(Gpu, AgainstItselfACandidateIsNoFaster) {
  const std::string module =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n"
      "    def forward(self, x):\n        return torch.add(x, 1)\n";
  folder_.write("candidates/them/1_AddOne/a.py", module);
  const std::string kernel = "candidate:" + folder_.write("1_AddOne.cu", add_one_kernel()).string();
  const std::string other = "candidate:" + folder_.write("1_AddOne.py", module).string();
  const auto result = run_kbench(arguments({"--baseline", kernel + "," + other}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(2));
  for (const Record& record : run.records) {
    ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
    const bool is_kernel = record.kind == CandidateKind::kKernel;
    // Eager is measured although it was not requested, as the common baseline.
    EXPECT_EQ(record.timing->sides.count("eager"), 1u);
    ASSERT_THAT(record.speedup, SizeIs(2));
    const Speedup& itself = record.speedup[is_kernel ? 0 : 1];
    EXPECT_EQ(itself.baseline.str(), is_kernel ? kernel : other);
    EXPECT_NEAR(itself.value, 1, 0.04);  // a ratio of four times of 8 µs each
  }
}

TEST_F(Gpu, LaunchingIsInTheCallersTimeAlone) {
  // Thirty launches, each of which takes the host longer than the GPU.
  std::string problem = add_one_problem(1 << 10);
  const auto at = problem.find("return x + 1");
  ASSERT_NE(at, std::string::npos);
  problem.replace(at, 12, "for _ in range(30): x = x * 1\n        return x + 1");
  folder_.write("set/level1/1_AddOne.py", problem);
  const auto result = run_kbench(arguments({}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record record = read_run(out()).records.at(0);
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  ASSERT_TRUE(record.timing);
  const SideTiming& eager = record.timing->sides.at("eager");
  ASSERT_TRUE(eager.wall_ms && eager.busy_ms);
  EXPECT_GT(*eager.wall_ms, 1.1 * eager.median_ms);
  // 31 gaps between kernels, of some microseconds at most.
  EXPECT_LT(eager.median_ms, *eager.busy_ms + 31 * 0.003);
}

TEST_F(Gpu, WhatAGpuHappensToHaveInRegistersIsNoAnswer) {
  // The assembler uses zero for an unset register, so the sum is right by chance. In the other
  // kernel the register is set whenever it is used, although no compiler can prove it.
  const auto kernel = [](const std::string& set, const std::string& used) {
    const std::string add_one = add_one_kernel();
    return add_one.substr(0, add_one.find("__global__")) +
           "__global__ void add_one(const float* x, float* y, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float more;\n  " +
           set + "\n  if (i >= n) return;\n  float sum = x[i] + 1.0f;\n  " + used +
           " asm(\"add.f32 %0, %0, %1;\" : \"+f\"(sum) : \"f\"(more));\n  y[i] = sum;\n}\n";
  };
  folder_.write("candidates/me/1_AddOne/a.cu", kernel("", ""));
  folder_.write("candidates/me/1_AddOne/b.cu", kernel("if (n < 5) more = x[0];", "if (n < 5)"));
  const auto result = run_kbench(arguments({}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(2));
  const bool in_order = run.records[0].sample == 0;
  const Record& undefined = run.records[in_order ? 0 : 1];
  const Record& defined = run.records[in_order ? 1 : 0];
  EXPECT_EQ(undefined.outcome, Outcome::kMismatch) << undefined.message;
  EXPECT_EQ(undefined.cause.str(), "right_by_chance");
  EXPECT_EQ(defined.outcome, Outcome::kCorrect) << defined.message;
  EXPECT_THAT(defined.flags, testing::Not(testing::Contains("undefined_unchecked")));
}

TEST_F(Gpu, ABarrierThatOnlyLuckReplacesIsMissed) {
  // If both warps start at once, the other warp's value is written before it is read.
  const std::string add_one = add_one_kernel();
  const auto kernel = [&](const std::string& barrier) {
    return add_one.substr(0, add_one.find("__global__")) +
           "__global__ void add_one(const float* x, float* y, int n) {\n"
           "  __shared__ float values[256];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  values[threadIdx.x] = i + 1.0f;\n  float mine = i < n ? x[i] : 0.0f;\n  " +
           barrier +
           "\n  float other = values[threadIdx.x ^ 32] - (i ^ 32);\n"
           "  if (i < n) y[i] = mine + other;\n}\n";
  };
  folder_.write("candidates/me/1_AddOne/a.cu", kernel("if (mine > 1e30f) return;"));
  folder_.write("candidates/me/1_AddOne/b.cu", kernel("__syncthreads();"));
  const auto result = run_kbench(arguments({}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(2));
  const bool in_order = run.records[0].sample == 0;
  EXPECT_NE(run.records[in_order ? 0 : 1].outcome, Outcome::kCorrect);
  const Record& right = run.records[in_order ? 1 : 0];
  EXPECT_EQ(right.outcome, Outcome::kCorrect) << right.message;
}

TEST_F(Gpu, AHurriedCompilerLeavesNoneOfKbenchsOwnKernelsOut) {
  ASSERT_EQ(run_kbench(arguments({})).status.code, 0);
  for (const auto& [name, home] : test_environment())
    if (name == "KBENCH_HOME")
      std::filesystem::remove_all(std::filesystem::path(home) / "cache/own-kernels");
  std::filesystem::remove(out());
  // The image of the candidate's own kernels is in the cache, so only kbench's kernels would have
  // to compile.
  const auto hurried = run_kbench(arguments({"--compile-timeout", "0.01", "--no-reuse"}));
  ASSERT_EQ(hurried.status.code, 0) << hurried.error;
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(1));
  ASSERT_EQ(run.records[0].outcome, Outcome::kCorrect) << run.records[0].message;
  // Without kbench's own kernels there is no gate.
  EXPECT_EQ(run.records[0].timing->method, "gated");
}

TEST_F(Gpu, AReferenceThatWaitsForTheGpuIsTimedAlone) {
  std::string problem = add_one_problem(1 << 20);
  const auto at = problem.find("return x + 1");
  ASSERT_NE(at, std::string::npos);
  problem.replace(at, 12, "x.sum().item()\n        return x + 1");
  folder_.write("set/level1/1_AddOne.py", problem);
  const auto result = run_kbench(arguments({}));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record record = read_run(out()).records.at(0);
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_EQ(record.timing->method.str(), "bounded");
  EXPECT_THAT(record.flags, testing::Contains("gate_synchronizes"));
}

TEST_F(Gpu, HalfPrecisionRowsCastBothSides) {
  folder_.write("candidates/me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<dtype(x)><<<cdiv(N, 256), 256>>>(x, y, N)
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> __global__ void k(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = T(float(x[i]) + 1.0f);
}
)");
  for (const std::string row : {"native", "tf32", "fp16", "bf16"}) {
    std::filesystem::remove(out());
    std::filesystem::remove(details_path(out()));
    ASSERT_EQ(run_kbench(arguments({"--precision", row})).status.code, 0) << row;
    const auto run = read_run(out());
    ASSERT_THAT(run.records, SizeIs(1)) << row;
    EXPECT_EQ(run.records[0].outcome, Outcome::kCorrect) << row << ": " << run.records[0].message;
    EXPECT_EQ(run.records[0].precision.str(), row);
  }
}

TEST_F(Gpu, CtrlCEndsEverythingOnTheDevice) {
  folder_.write("candidates/me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<<<1, 32>>>(x, y)
__global__ void k(const float* x, volatile float* y) { while (y[0] != 12345.0f) y[1] = x[0]; }
)");
  for (const int delay_ms : {1500, 4000, 6000}) {
    std::filesystem::remove(out());
    std::filesystem::remove(details_path(out()));
    SpawnOptions options;
    options.command = {std::string(KBENCH_BIN_DIR) + "/kbench"};
    const auto more = arguments({});
    options.command.insert(options.command.end(), more.begin(), more.end());
    options.env = test_environment();
    Child child(options);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(child.pid(), SIGINT);
    const auto status = child.wait();
    EXPECT_FALSE(status.signaled);
    EXPECT_TRUE(status.code == 130 || status.code == 0) << status.code;
  }
  // The device is free at once, so the next run works.
  std::filesystem::remove(out());
  std::filesystem::remove(details_path(out()));
  folder_.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
  ASSERT_EQ(run_kbench(arguments({})).status.code, 0);
  EXPECT_EQ(read_run(out()).records.at(0).outcome, Outcome::kCorrect);
}

TEST_F(Gpu, PublicSeedsDrawTheSameInputsAgain) {
  folder_.write("candidates/me/1_AddOne/a.cu", R"(//@ dims x[N]
//@ out y like x
//@ k<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
)");
  std::vector<std::string> expected;
  for (const std::string seed : {"7", "7", "8"}) {
    std::filesystem::remove(out());
    std::filesystem::remove(details_path(out()));
    ASSERT_EQ(run_kbench(arguments({"--seed", seed})).status.code, 0);
    const auto record = read_run(out()).records.at(0);
    ASSERT_EQ(record.outcome, Outcome::kMismatch);
    expected.push_back(record.correctness.at(0).first_wrong->expected);
  }
  EXPECT_EQ(expected[0], expected[1]);
  EXPECT_NE(expected[0], expected[2]);
}

}  // namespace
}  // namespace kbench::test

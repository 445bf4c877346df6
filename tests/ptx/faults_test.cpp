// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <chrono>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSource = R"(
extern "C" __global__ void past_end(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1.0f;                       // line 4
}
extern "C" __global__ void read_past_end(const float* x, float* y, int n) {
  y[threadIdx.x] = x[(int)threadIdx.x + n];
}
extern "C" __global__ void wild(float* x) { x[1 << 28] = 1.0f; }
extern "C" __global__ void odd(char* x) { *(int*)(x + 1) = 1; }
extern "C" __global__ void stop(int n) { if (threadIdx.x == n) __trap(); }
extern "C" __global__ void forever(volatile int* x) { while (*x == 0) { } }
extern "C" __global__ void busy(int* x) { unsigned i = 1; while (i) i = i * 5 + 2 | 1; *x = i; }
extern "C" __global__ void shared_past_end(float* y, int n) {
  __shared__ float s[32];
  s[threadIdx.x + n] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void half_waits(int* x) {
  if (threadIdx.x < 16) __shfl_sync(0xffffffffu, x[0], 0);
  else while (atomicAdd(x, 0) == 0) { asm volatile("bar.sync 1, 64;"); }
}
#include <cassert>
extern "C" __global__ void asserts(int n) { assert(threadIdx.x < n); }
)";

class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEEDS_NVRTC();
    std::string source = kSource;
    const std::string include = "#include <cassert>\n";
    source.replace(source.find(include), include.size(),
                   "extern \"C\" __device__ void __assertfail(const char*, const char*, unsigned, "
                   "const char*, size_t);\n#define assert(e) ((e) ? (void)0 : __assertfail(#e, "
                   "\"kernel.cu\", __LINE__, \"asserts\", 1))\n");
    module_ = std::make_unique<Module>(load_source(source));
  }
  Fault fault(const std::string& kernel, std::vector<std::vector<std::byte>> values,
              const std::vector<Region>& regions, unsigned threads = 32,
              const Options& options = {}) {
    Launch launch;
    launch.kernel = kernel;
    launch.block = {threads, 1, 1};
    launch.arguments = std::move(values);
    return run_to_fault(*module_, launch, regions, options);
  }

  std::unique_ptr<Module> module_;
};

TEST_F(Faults, write_past_the_end_is_named_with_thread_line_and_offset) {
  Buffer<float> x("output x", 10);
  const Fault got = fault("past_end", arguments(x.data(), 10), {x.region()});
  EXPECT_EQ(got.kind, FaultKind::kIllegalWrite);
  EXPECT_EQ(got.region, "output x");
  EXPECT_EQ(got.offset_bytes, 40);
  EXPECT_EQ(got.thread[0], 10U);
  EXPECT_EQ(got.line, 4);
  EXPECT_THAT(got.file, HasSubstr("kernel.cu"));
  EXPECT_THAT(got.instruction, HasSubstr("st.global"));
  EXPECT_THAT(got.message, HasSubstr("offset 40 of output x, which has 40 bytes"));
}

TEST_F(Faults, write_to_a_read_only_buffer) {
  Buffer<float> x("input x", 32);
  const Fault got = fault("past_end", arguments(x.data(), 5), {x.region(false)});
  EXPECT_EQ(got.kind, FaultKind::kIllegalWrite);
  EXPECT_EQ(got.offset_bytes, 0);
  EXPECT_THAT(got.message, HasSubstr("is read-only"));
}

TEST_F(Faults, read_in_the_red_zone) {
  Buffer<float> x("input x", 32), y("output y", 32);
  const Fault got =
      fault("read_past_end", arguments(x.data(), y.data(), 1), {x.region(false), y.region()});
  EXPECT_EQ(got.kind, FaultKind::kIllegalRead);
  EXPECT_EQ(got.thread[0], 31U);
  EXPECT_EQ(got.offset_bytes, 128);
  const Fault before =
      fault("read_past_end", arguments(x.data(), y.data(), -2), {x.region(false), y.region()});
  EXPECT_EQ(before.kind, FaultKind::kIllegalRead);
  EXPECT_EQ(before.offset_bytes, -8);
}

TEST_F(Faults, address_in_no_buffer) {
  Buffer<float> x("output x", 32);
  const Fault got = fault("wild", arguments(x.data()), {x.region()}, 1);
  EXPECT_EQ(got.kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(fault("wild", arguments(static_cast<float*>(nullptr)), {x.region()}, 1).kind,
            FaultKind::kIllegalAddress);
}

TEST_F(Faults, misaligned_address) {
  Buffer<char> x("output x", 32);
  EXPECT_EQ(fault("odd", arguments(x.data()), {x.region()}, 1).kind, FaultKind::kMisaligned);
}

TEST_F(Faults, shared_memory_is_bounded) {
  Buffer<float> y("output y", 32);
  const Fault got = fault("shared_past_end", arguments(y.data(), 3), {y.region()});
  EXPECT_EQ(got.kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(got.region, "shared memory");
  EXPECT_EQ(got.offset_bytes, 128);
  EXPECT_EQ(got.thread[0], 29U);
}

TEST_F(Faults, trap_names_the_thread) {
  const Fault got = fault("stop", arguments(7), {});
  EXPECT_EQ(got.kind, FaultKind::kTrap);
  EXPECT_EQ(got.thread[0], 7U);
}

TEST_F(Faults, assert_names_the_condition) {
  const Fault got = fault("asserts", arguments(7), {});
  EXPECT_EQ(got.kind, FaultKind::kTrap);
  EXPECT_EQ(got.thread[0], 7U);
  EXPECT_THAT(got.message, HasSubstr("threadIdx.x < n"));
}

TEST_F(Faults, lanes_that_wait_for_each_other_are_a_deadlock) {
  Buffer<int> x("output x", 1);
  const Fault got = fault("half_waits", arguments(x.data()), {x.region()});
  EXPECT_EQ(got.kind, FaultKind::kDeadlock);
}

TEST_F(Faults, endless_loops_end_at_the_deadline_and_say_where) {
  Buffer<int> x("output x", 1);
  for (const char* kernel : {"forever", "busy"}) {
    Options options;
    options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    const Fault got = fault(kernel, arguments(x.data()), {x.region()}, 128, options);
    EXPECT_GE(std::chrono::steady_clock::now(), options.deadline) << kernel;
    EXPECT_EQ(got.kind, FaultKind::kDeadline) << kernel;
    EXPECT_GT(got.line, 0) << kernel;
    EXPECT_THAT(got.message, HasSubstr("is still running")) << kernel;
  }
}

TEST_F(Faults, what_ends_before_its_deadline_does_not_see_it) {
  Options options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(fault("stop", arguments(7), {}, 32, options).kind, FaultKind::kTrap);
}

TEST_F(Faults, launches_that_no_device_takes) {
  Buffer<float> x("output x", 32);
  EXPECT_EQ(fault("past_end", arguments(x.data(), 5), {x.region()}, 1025).kind,
            FaultKind::kBadLaunch);
  EXPECT_EQ(fault("past_end", arguments(x.data()), {x.region()}).kind, FaultKind::kBadLaunch);
  const Fault size = fault("past_end", arguments(x.data(), 5.0), {x.region()});
  EXPECT_EQ(size.kind, FaultKind::kBadLaunch);
  EXPECT_THAT(size.message, HasSubstr("argument 2 has 8 bytes instead of 4"));
  EXPECT_EQ(fault("nothing", {}, {}).kind, FaultKind::kBadLaunch);
  Launch launch;
  launch.kernel = "past_end";
  launch.dynamic_shared_bytes = 228 * 1024;
  launch.arguments = arguments(x.data(), 5);
  EXPECT_EQ(run_to_fault(*module_, launch, {x.region()}).kind, FaultKind::kBadLaunch);
  launch.dynamic_shared_bytes = 0;
  launch.cooperative = true;
  launch.grid = {100'000, 1, 1};
  EXPECT_EQ(run_to_fault(*module_, launch, {x.region()}).kind, FaultKind::kBadLaunch);
}

}  // namespace
}  // namespace kbench::ptx::testing

// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/races_helper.hpp"

// Races of threads of one block in shared memory.
namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lines are counted from the one behind R"(, which is the second.
constexpr const char* kSource = R"(
extern "C" __global__ void reverses(float* y, int sync) {
  __shared__ float s[256];
  s[threadIdx.x] = y[threadIdx.x];                                    // line 4
  if (sync) __syncthreads();
  y[threadIdx.x] = s[255 - threadIdx.x];                              // line 6
}
extern "C" __global__ void loops(float* y, int n, int sync) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = i + threadIdx.x;                                 // line 12
    __syncthreads();
    sum += s[threadIdx.x ^ 32];                                       // line 14
    if (sync) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void double_buffer(float* y, int n) {
  __shared__ float s[2][256];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    s[i & 1][threadIdx.x] = i + threadIdx.x;
    __syncthreads();
    sum += s[i & 1][threadIdx.x ^ 32];
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void warp_sums(float* y, int sync) {
  __shared__ float s[64];
  int i = threadIdx.x, lane = i & 31, base = i & ~31;
  s[i] = y[i];
  if (sync) __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    float other = s[base + ((lane + step) & 31)];                     // line 35
    if (sync) __syncwarp();
    s[i] += other;
    if (sync) __syncwarp();
  }
  y[i] = s[base];
}
extern "C" __global__ void volatile_sums(float* y) {
  __shared__ volatile float s[64];
  int i = threadIdx.x;
  s[i] = y[i];
  s[i] += s[i ^ 16]; s[i] += s[i ^ 8];
  y[i] = s[i];
}
extern "C" __global__ void shuffles(float* y) {
  __shared__ float s[8];
  float v = y[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(~0u, v, step);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 8) {
    v = s[threadIdx.x];
    for (int step = 4; step > 0; step /= 2) v += __shfl_down_sync(0xffu, v, step);
    if (threadIdx.x == 0) s[0] = v;
  }
  __syncthreads();
  y[threadIdx.x] = s[0];
}
extern "C" __global__ void same_value(int* y, int differs) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (y[threadIdx.x] >= 0) flag = 1 + differs * threadIdx.x;          // line 67
  __syncthreads();
  y[threadIdx.x] = flag;
}
extern "C" __global__ void histogram(int* y, int sync) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x * 7 % 16], 1);
  if (sync) __syncthreads();
  if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];           // line 77
}
extern "C" __global__ void halves(short* y) {
  __shared__ short s[256];
  __shared__ char b[256];
  s[threadIdx.x] = threadIdx.x; b[threadIdx.x] = threadIdx.x;
  short v = s[threadIdx.x] + b[threadIdx.x];
  y[threadIdx.x] = v;
}
extern "C" __global__ void named_barriers(float* y, int n, int sync) {
  __shared__ float s[2][64];
  int i = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int k = 0; k < n; ++k) {
      if (k > 1 && sync) asm volatile("bar.sync %0, 128;" :: "r"(9 + k) : "memory");
      s[k & 1][i] = k + i;                                            // line 92
      asm volatile("bar.arrive %0, 128;" :: "r"(1 + k) : "memory");
    }
  } else {
    float sum = 0;
    for (int k = 0; k < n; ++k) {
      asm volatile("bar.sync %0, 128;" :: "r"(1 + k) : "memory");
      sum += s[k & 1][63 - i];
      if (k < n - 2 && sync) asm volatile("bar.arrive %0, 128;" :: "r"(11 + k) : "memory");
    }
    y[i] = sum;
  }
}
extern "C" __global__ void lock(int* y, int fences) {
  __shared__ int mutex, count;
  if (threadIdx.x == 0) mutex = count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) { }
    if (fences) __threadfence_block();
    count += 1;                                                       // line 112
    if (fences) __threadfence_block();
    atomicExch(&mutex, 0);
  }
  __syncthreads();
  y[0] = count;
}
extern "C" __global__ void copies_async(float* y) {
  __shared__ float s[2][256];
  auto copy = [&](int k) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[k & 1][threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;"
                 :: "r"(to), "l"(y + k * 256 + threadIdx.x) : "memory");
  };
  float sum = 0;
  copy(0);
  for (int k = 0; k < 4; ++k) {
    if (k < 3) copy(k + 1);
    if (k < 3) asm volatile("cp.async.wait_group 1;" ::: "memory");
    else asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    sum += s[k & 1][255 - threadIdx.x];
    __syncthreads();
  }
  y[1024 + threadIdx.x] = sum;
}
)";

class SharedRaces : public WithModule<kSource> {
 protected:
  template <class T, class... A>
  static Result block(const std::string& kernel, unsigned threads, Buffer<T>& y, A... more) {
    return run_watched(*module_, launch_of(kernel, 1, threads, arguments(y.data(), more...)),
                       {y.region()});
  }
};

TEST_F(SharedRaces, a_missing_barrier_between_write_and_read) {
  Buffer<float> y("output y", 256, 1.0F);
  const Finding got = expect_race(block("reverses", 256, y, 0), FindingKind::kSharedRace, 6, 4);
  EXPECT_EQ(got.region, "shared memory");
  EXPECT_THAT(got.message, HasSubstr("with no barrier in between"));
  EXPECT_THAT(got.message, HasSubstr("which thread ("));
  EXPECT_THAT(messages(block("reverses", 256, y, 1)), IsEmpty());
}

TEST_F(SharedRaces, counters_see_the_same_launch) {
  Buffer<float> y("output y", 256, 1.0F);
  const Launch launch = launch_of("reverses", 1, 256, arguments(y.data(), 0));
  Options options;
  options.sanitize = Sanitize::kAll;
  options.count = true;
  const Result got = kbench::ptx::launch(*module_, std::vector{y.region()}, launch, options);
  expect_race(got, FindingKind::kSharedRace, 6, 4);
  ASSERT_TRUE(got.statistics.counters);
  EXPECT_EQ(got.statistics.counters->global_requests, 16U);
  EXPECT_EQ(got.statistics.counters->shared_requests, 16U);
}

TEST_F(SharedRaces, a_missing_barrier_at_the_end_of_a_loop) {
  Buffer<float> y("output y", 256);
  expect_race(block("loops", 256, y, 4, 0), FindingKind::kSharedRace, 12, 14);
  EXPECT_THAT(messages(block("loops", 256, y, 4, 1)), IsEmpty());
  EXPECT_THAT(messages(block("double_buffer", 256, y, 5)), IsEmpty());
}

TEST_F(SharedRaces, lanes_of_a_warp) {
  Buffer<float> y("output y", 64, 1.0F);
  const Finding got = expect_race(block("warp_sums", 64, y, 0), FindingKind::kSharedRace, 35, 32);
  EXPECT_THAT(got.message, HasSubstr("no __syncwarp in between"));
  EXPECT_THAT(messages(block("warp_sums", 64, y, 1)), IsEmpty());
  EXPECT_THAT(messages(block("volatile_sums", 64, y)), IsEmpty());
  Buffer<float> z("output z", 256, 1.0F);
  EXPECT_THAT(messages(block("shuffles", 256, z)), IsEmpty());
  EXPECT_EQ(z[5], 256.0F);
}

TEST_F(SharedRaces, writes_of_the_same_value_are_none) {
  Buffer<int> y("output y", 128);
  EXPECT_THAT(messages(block("same_value", 128, y, 0)), IsEmpty());
  expect_race(block("same_value", 128, y, 1), FindingKind::kSharedRace, 67, 67);
}

TEST_F(SharedRaces, atomics_are_none_among_themselves) {
  Buffer<int> y("output y", 128);
  EXPECT_THAT(messages(block("histogram", 128, y, 1)), IsEmpty());
  expect_race(block("histogram", 128, y, 0), FindingKind::kSharedRace, 77, 75);
}

TEST_F(SharedRaces, neighbouring_bytes_are_not_the_same) {
  Buffer<short> y("output y", 256);
  EXPECT_THAT(messages(block("halves", 256, y)), IsEmpty());
}

TEST_F(SharedRaces, barriers_of_some_warps) {
  Buffer<float> y("output y", 64);
  EXPECT_THAT(messages(block("named_barriers", 128, y, 5, 1)), IsEmpty());
  expect_race(block("named_barriers", 128, y, 5, 0), FindingKind::kSharedRace, 92, 99);
}

TEST_F(SharedRaces, locks_in_shared_memory) {
  Buffer<int> y("output y", 1);
  EXPECT_THAT(messages(block("lock", 256, y, 1)), IsEmpty());
  EXPECT_EQ(y[0], 8);
  expect_race(block("lock", 256, y, 0), FindingKind::kSharedRace, 112, 112);
}

TEST_F(SharedRaces, asynchronous_copies) {
  Buffer<float> y("output y", 1280, 1.0F);
  EXPECT_THAT(messages(block("copies_async", 256, y)), IsEmpty());
  EXPECT_EQ(y[1024], 4.0F);
}

}  // namespace
}  // namespace kbench::ptx::testing

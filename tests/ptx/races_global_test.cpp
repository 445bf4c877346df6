// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/races_helper.hpp"

// Races of blocks in global memory.
namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Lines are counted from the one behind R"(, which is the second.
constexpr const char* kSource = R"(
#include <cooperative_groups.h>
extern "C" __global__ void last_block(const float* x, float* part, int* count, float* y, int f) {
  __shared__ int last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = x[blockIdx.x];                                 // line 6
    if (f) __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += part[i];               // line 13
    *y = sum;
    *count = 0;
  }
}
extern "C" __global__ void look_back(const int* x, volatile int* flag, int* sum) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flag[blockIdx.x - 1] == 0) { }
    __threadfence();
    before = sum[blockIdx.x - 1];
  }
  sum[blockIdx.x] = before + x[blockIdx.x];
  __threadfence();
  flag[blockIdx.x] = 1;
}
extern "C" __global__ void neighbours(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = i > 0 ? y[i - 1] : 0;                                  // line 32
  __syncthreads();
  y[i] = left + 1;                                                    // line 34
}
extern "C" __global__ void grid_sync(float* y, int n) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    float left = y[(i + n - 1) % n];
    grid.sync();
    y[i] = left + 1;
    grid.sync();
  }
}
extern "C" __global__ void all_write(int* y, int differs) {
  if (threadIdx.x == 0) *y = 1 + differs * blockIdx.x;                // line 47
}
extern "C" __global__ void sums(const int* x, int* y, int zeroed) {
  if (!zeroed && blockIdx.x == 3 && threadIdx.x == 0) *y = 0;         // line 50
  atomicAdd(y, x[threadIdx.x]);
}
extern "C" __global__ void lock(int* mutex, int* count, int fences) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0, 1) != 0) { }
  __threadfence();
  *count += 1;                                                        // line 57
  if (fences) __threadfence();
  atomicExch(mutex, 0);
}
extern "C" __global__ void own_parts(unsigned short* y, int n) {
  for (int k = 0; k < 3; ++k) y[threadIdx.x * gridDim.x + blockIdx.x] += k;
}
)";

class GlobalRaces : public WithModule<kSource> {
 protected:
  /// Kernels that race run on one host thread: their races are the host's as well.
  static Result run(const std::string& kernel, unsigned blocks, unsigned threads,
                    std::vector<std::vector<std::byte>> values, const std::vector<Region>& regions,
                    bool cooperative = false, unsigned host_threads = 0) {
    Launch launch = launch_of(kernel, blocks, threads, std::move(values));
    launch.cooperative = cooperative;
    return run_watched(*module_, launch, regions, host_threads);
  }
};

TEST_F(GlobalRaces, the_last_block_sums) {
  for (const unsigned host_threads : {1U, 4U}) {
    Buffer<float> x("input x", 64, 1.0F), part("scratch part", 64), y("output y", 1);
    Buffer<int> count("scratch count", 1);
    const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
    const auto go = [&](int fences) {
      return run("last_block", 64, 32,
                 arguments(x.data(), part.data(), count.data(), y.data(), fences), regions, false,
                 fences != 0 ? host_threads : 1);
    };
    EXPECT_THAT(messages(go(1)), IsEmpty());
    EXPECT_EQ(y[0], 64.0F);
    const Finding got = expect_race(go(0), FindingKind::kGlobalRace, 13, 6);
    EXPECT_EQ(got.region, "scratch part");
    EXPECT_THAT(got.message, HasSubstr("nothing orders the two"));
  }
}

TEST_F(GlobalRaces, look_back_is_ordered) {
  for (const unsigned host_threads : {1U, 4U}) {
    Buffer<int> x("input x", 100, 1), flag("scratch flag", 100), sum("output sum", 100);
    const Result got = run("look_back", 100, 32, arguments(x.data(), flag.data(), sum.data()),
                           {x.region(false), flag.region(), sum.region()}, false, host_threads);
    EXPECT_THAT(messages(got), IsEmpty());
    EXPECT_EQ(sum[99], 100);
  }
}

TEST_F(GlobalRaces, blocks_that_read_what_their_neighbours_write) {
  Buffer<float> y("output y", 256, 1.0F);
  const Result got = run("neighbours", 4, 64, arguments(y.data(), 256), {y.region()}, false, 1);
  ASSERT_THAT(got.findings, SizeIs(1));
  expect_race(got, FindingKind::kGlobalRace, 32, 34);
  EXPECT_EQ(got.findings[0].offset_bytes, 63 * 4);
  EXPECT_EQ(got.findings[0].block[0], 1U);
  EXPECT_EQ(got.findings[0].thread[0], 0U);
  EXPECT_EQ(got.findings[0].count, 3U);
  EXPECT_THAT(got.findings[0].message, HasSubstr("which block (0, 0, 0) writes"));
}

TEST_F(GlobalRaces, grid_sync_orders_all_blocks) {
  Buffer<float> y("output y", 256, 1.0F);
  for (const unsigned host_threads : {1U, 4U}) {
    EXPECT_THAT(messages(run("grid_sync", 4, 64, arguments(y.data(), 256), {y.region()}, true,
                             host_threads)),
                IsEmpty());
  }
}

TEST_F(GlobalRaces, blocks_that_write_the_same_place) {
  Buffer<int> y("output y", 1);
  EXPECT_THAT(messages(run("all_write", 8, 32, arguments(y.data(), 0), {y.region()}, false, 1)),
              IsEmpty());
  expect_race(run("all_write", 8, 32, arguments(y.data(), 1), {y.region()}, false, 1),
              FindingKind::kGlobalRace, 47, 47);
}

TEST_F(GlobalRaces, a_block_that_clears_what_others_add_to) {
  Buffer<int> x("input x", 32, 1), y("output y", 1);
  const std::vector<Region> regions{x.region(false), y.region()};
  EXPECT_THAT(messages(run("sums", 8, 32, arguments(x.data(), y.data(), 1), regions)), IsEmpty());
  expect_race(run("sums", 8, 32, arguments(x.data(), y.data(), 0), regions, false, 1),
              FindingKind::kGlobalRace, 50, 51);
}

TEST_F(GlobalRaces, locks_between_blocks) {
  Buffer<int> mutex("scratch mutex", 1), count("output count", 1);
  const std::vector<Region> regions{mutex.region(), count.region()};
  EXPECT_THAT(messages(run("lock", 32, 32, arguments(mutex.data(), count.data(), 1), regions)),
              IsEmpty());
  EXPECT_EQ(count[0], 32);
}

TEST_F(GlobalRaces, parts_of_a_word_that_belong_to_different_blocks) {
  Buffer<unsigned short> y("output y", 256);
  EXPECT_THAT(messages(run("own_parts", 8, 32, arguments(y.data(), 256), {y.region()})), IsEmpty());
}

}  // namespace
}  // namespace kbench::ptx::testing

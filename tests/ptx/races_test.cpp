// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Lines are counted from the one behind R"(, which is the second.
constexpr const char* kShared = R"(
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

constexpr const char* kGlobal = R"(
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

class Races : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!nvrtc_missing().empty()) return;
    shared_ = std::make_unique<Module>(load_source(kShared));
    global_ = std::make_unique<Module>(load_source(kGlobal));
  }
  static void TearDownTestSuite() {
    shared_.reset();
    global_.reset();
  }
  void SetUp() override { KBENCH_NEEDS_NVRTC(); }

  static Result run(Module& module, const std::string& kernel, unsigned blocks, unsigned threads,
                    std::vector<std::vector<std::byte>> values, const std::vector<Region>& regions,
                    bool cooperative = false, unsigned host_threads = 0) {
    Launch launch;
    launch.kernel = kernel;
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.cooperative = cooperative;
    launch.arguments = std::move(values);
    Options options;
    options.sanitize = Sanitize::kAll;
    options.threads = host_threads;
    Result result = kbench::ptx::launch(module, regions, launch, options);
    if (result.fault) ADD_FAILURE() << result.fault->message;
    return result;
  }
  template <class T, class... A>
  static Result block(const std::string& kernel, unsigned threads, Buffer<T>& y, A... more) {
    return run(*shared_, kernel, 1, threads, arguments(y.data(), more...), {y.region()});
  }

  static std::unique_ptr<Module> shared_, global_;
};
std::unique_ptr<Module> Races::shared_, Races::global_;

std::string messages(const Result& result) {
  std::string all;
  for (const Finding& finding : result.findings) all += finding.message + "\n";
  return all;
}

/// A race of two lines: the one that is seen later has the finding, whose message names the other.
/// What one schedule reads too early is undefined besides.
Finding expect_race(const Result& result, FindingKind kind, int line, int other) {
  for (const Finding& found : result.findings) {
    if (found.kind != kind) continue;
    const int named = found.line == line ? other : line;
    EXPECT_THAT(found.line, AnyOf(line, other)) << found.message;
    EXPECT_THAT(found.message, HasSubstr("kernel.cu:" + std::to_string(named) + ")"));
    return found;
  }
  ADD_FAILURE() << "no race among: " << messages(result);
  return {};
}

TEST_F(Races, a_missing_barrier_between_write_and_read) {
  Buffer<float> y("output y", 256, 1.0F);
  const Finding got = expect_race(block("reverses", 256, y, 0), FindingKind::kSharedRace, 6, 4);
  EXPECT_EQ(got.region, "shared memory");
  EXPECT_THAT(got.message, HasSubstr("with no barrier in between"));
  EXPECT_THAT(got.message, HasSubstr("which thread ("));
  EXPECT_THAT(messages(block("reverses", 256, y, 1)), IsEmpty());
}

TEST_F(Races, counters_see_the_same_launch) {
  Buffer<float> y("output y", 256, 1.0F);
  Launch launch;
  launch.kernel = "reverses";
  launch.block = {256, 1, 1};
  launch.arguments = arguments(y.data(), 0);
  Options options;
  options.sanitize = Sanitize::kAll;
  options.count = true;
  const Result got = kbench::ptx::launch(*shared_, std::vector{y.region()}, launch, options);
  expect_race(got, FindingKind::kSharedRace, 6, 4);
  ASSERT_TRUE(got.statistics.counters);
  EXPECT_EQ(got.statistics.counters->global_requests, 16U);
  EXPECT_EQ(got.statistics.counters->shared_requests, 16U);
}

TEST_F(Races, a_missing_barrier_at_the_end_of_a_loop) {
  Buffer<float> y("output y", 256);
  expect_race(block("loops", 256, y, 4, 0), FindingKind::kSharedRace, 12, 14);
  EXPECT_THAT(messages(block("loops", 256, y, 4, 1)), IsEmpty());
  EXPECT_THAT(messages(block("double_buffer", 256, y, 5)), IsEmpty());
}

TEST_F(Races, lanes_of_a_warp) {
  Buffer<float> y("output y", 64, 1.0F);
  const Finding got = expect_race(block("warp_sums", 64, y, 0), FindingKind::kSharedRace, 35, 32);
  EXPECT_THAT(got.message, HasSubstr("no __syncwarp in between"));
  EXPECT_THAT(messages(block("warp_sums", 64, y, 1)), IsEmpty());
  EXPECT_THAT(messages(block("volatile_sums", 64, y)), IsEmpty());
  Buffer<float> z("output z", 256, 1.0F);
  EXPECT_THAT(messages(block("shuffles", 256, z)), IsEmpty());
  EXPECT_EQ(z[5], 256.0F);
}

TEST_F(Races, writes_of_the_same_value_are_none) {
  Buffer<int> y("output y", 128);
  EXPECT_THAT(messages(block("same_value", 128, y, 0)), IsEmpty());
  expect_race(block("same_value", 128, y, 1), FindingKind::kSharedRace, 67, 67);
}

TEST_F(Races, atomics_are_none_among_themselves) {
  Buffer<int> y("output y", 128);
  EXPECT_THAT(messages(block("histogram", 128, y, 1)), IsEmpty());
  expect_race(block("histogram", 128, y, 0), FindingKind::kSharedRace, 77, 75);
}

TEST_F(Races, neighbouring_bytes_are_not_the_same) {
  Buffer<short> y("output y", 256);
  EXPECT_THAT(messages(block("halves", 256, y)), IsEmpty());
}

TEST_F(Races, barriers_of_some_warps) {
  Buffer<float> y("output y", 64);
  EXPECT_THAT(messages(block("named_barriers", 128, y, 5, 1)), IsEmpty());
  expect_race(block("named_barriers", 128, y, 5, 0), FindingKind::kSharedRace, 92, 99);
}

TEST_F(Races, locks_in_shared_memory) {
  Buffer<int> y("output y", 1);
  EXPECT_THAT(messages(block("lock", 256, y, 1)), IsEmpty());
  EXPECT_EQ(y[0], 8);
  expect_race(block("lock", 256, y, 0), FindingKind::kSharedRace, 112, 112);
}

TEST_F(Races, asynchronous_copies) {
  Buffer<float> y("output y", 1280, 1.0F);
  EXPECT_THAT(messages(block("copies_async", 256, y)), IsEmpty());
  EXPECT_EQ(y[1024], 4.0F);
}

TEST_F(Races, the_last_block_sums) {
  for (const unsigned host_threads : {1U, 4U}) {
    Buffer<float> x("input x", 64, 1.0F), part("scratch part", 64), y("output y", 1);
    Buffer<int> count("scratch count", 1);
    const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
    const auto go = [&](int fences) {
      return run(*global_, "last_block", 64, 32,
                 arguments(x.data(), part.data(), count.data(), y.data(), fences), regions, false,
                 host_threads);
    };
    EXPECT_THAT(messages(go(1)), IsEmpty());
    EXPECT_EQ(y[0], 64.0F);
    const Finding got = expect_race(go(0), FindingKind::kGlobalRace, 13, 6);
    EXPECT_EQ(got.region, "scratch part");
    EXPECT_THAT(got.message, HasSubstr("nothing orders the two"));
  }
}

TEST_F(Races, look_back_is_ordered) {
  for (const unsigned host_threads : {1U, 4U}) {
    Buffer<int> x("input x", 100, 1), flag("scratch flag", 100), sum("output sum", 100);
    const Result got =
        run(*global_, "look_back", 100, 32, arguments(x.data(), flag.data(), sum.data()),
            {x.region(false), flag.region(), sum.region()}, false, host_threads);
    EXPECT_THAT(messages(got), IsEmpty());
    EXPECT_EQ(sum[99], 100);
  }
}

TEST_F(Races, blocks_that_read_what_their_neighbours_write) {
  Buffer<float> y("output y", 256, 1.0F);
  const Result got =
      run(*global_, "neighbours", 4, 64, arguments(y.data(), 256), {y.region()}, false, 1);
  ASSERT_THAT(got.findings, SizeIs(1));
  expect_race(got, FindingKind::kGlobalRace, 32, 34);
  EXPECT_EQ(got.findings[0].offset_bytes, 63 * 4);
  EXPECT_EQ(got.findings[0].block[0], 1U);
  EXPECT_EQ(got.findings[0].thread[0], 0U);
  EXPECT_EQ(got.findings[0].count, 3U);
  EXPECT_THAT(got.findings[0].message, HasSubstr("which block (0, 0, 0) writes"));
}

TEST_F(Races, grid_sync_orders_all_blocks) {
  Buffer<float> y("output y", 256, 1.0F);
  for (const unsigned host_threads : {1U, 4U}) {
    EXPECT_THAT(messages(run(*global_, "grid_sync", 4, 64, arguments(y.data(), 256), {y.region()},
                             true, host_threads)),
                IsEmpty());
  }
}

TEST_F(Races, blocks_that_write_the_same_place) {
  Buffer<int> y("output y", 1);
  EXPECT_THAT(messages(run(*global_, "all_write", 8, 32, arguments(y.data(), 0), {y.region()})),
              IsEmpty());
  expect_race(run(*global_, "all_write", 8, 32, arguments(y.data(), 1), {y.region()}),
              FindingKind::kGlobalRace, 47, 47);
}

TEST_F(Races, a_block_that_clears_what_others_add_to) {
  Buffer<int> x("input x", 32, 1), y("output y", 1);
  const std::vector<Region> regions{x.region(false), y.region()};
  EXPECT_THAT(messages(run(*global_, "sums", 8, 32, arguments(x.data(), y.data(), 1), regions)),
              IsEmpty());
  expect_race(run(*global_, "sums", 8, 32, arguments(x.data(), y.data(), 0), regions, false, 1),
              FindingKind::kGlobalRace, 50, 51);
}

TEST_F(Races, locks_between_blocks) {
  Buffer<int> mutex("scratch mutex", 1), count("output count", 1);
  const std::vector<Region> regions{mutex.region(), count.region()};
  EXPECT_THAT(
      messages(run(*global_, "lock", 32, 32, arguments(mutex.data(), count.data(), 1), regions)),
      IsEmpty());
  EXPECT_EQ(count[0], 32);
}

TEST_F(Races, parts_of_a_word_that_belong_to_different_blocks) {
  Buffer<unsigned short> y("output y", 256);
  EXPECT_THAT(messages(run(*global_, "own_parts", 8, 32, arguments(y.data(), 256), {y.region()})),
              IsEmpty());
}

}  // namespace
}  // namespace kbench::ptx::testing

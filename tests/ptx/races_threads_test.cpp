// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/races_helper.hpp"

// Races of threads of one block in global memory.
namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lines are counted from the one behind R"(, which is the second.
constexpr const char* kSource = R"(
#include <cooperative_groups.h>
extern "C" __global__ void warps_add(const float* x, float* y) {
  float a = x[threadIdx.x];
  if (threadIdx.x % 32 == 0) y[blockIdx.x] += a * 2;                  // line 5
}
extern "C" __global__ void threads_add(const float* x, float* y) {
  y[blockIdx.x] += x[0];                                              // line 8
}
extern "C" __global__ void lanes_write(float* y, int n) {
  y[threadIdx.x / n] = threadIdx.x;                                   // line 11
}
extern "C" __global__ void reverses(float* y, float* z, int sync) {
  y[threadIdx.x] = threadIdx.x;                                       // line 14
  if (sync) __syncthreads();
  z[threadIdx.x] = y[blockDim.x - 1 - threadIdx.x];                   // line 16
}
extern "C" __global__ void loops(float* y, float* z, int n, int sync) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    y[threadIdx.x] = i + threadIdx.x;                                 // line 21
    __syncthreads();
    sum += y[threadIdx.x ^ 32];                                       // line 23
    if (sync) __syncthreads();
  }
  z[threadIdx.x] = sum;
}
extern "C" __global__ void block_sum(float* y, int sync) {
  float* part = y + blockIdx.x * blockDim.x;
  part[threadIdx.x] = threadIdx.x;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (sync) __syncthreads();
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];  // line 33
  }
}
extern "C" __global__ void warp_exchange(float* y, float* z, int sync) {
  int lane = threadIdx.x % 32;
  y[threadIdx.x] = lane;                                              // line 38
  if (sync) __syncwarp();
  z[threadIdx.x] = y[threadIdx.x ^ 5];                                // line 40
}
extern "C" __global__ void last_block(const float* x, float* part, int* count, float* y) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += part[i * blockDim.x + (threadIdx.x ^ 37)];
  y[threadIdx.x] = sum;
  if (threadIdx.x == 40) *count = 0;
}
extern "C" __global__ void last_warp(float* part, int* count, float* y, int fence) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, done = 0;
  if (lane == 0) {
    part[warp] = warp + 1;                                            // line 58
    if (fence) __threadfence();
    done = atomicAdd(count, 1);
    if (done == blockDim.x / 32 - 1) {
      float sum = 0;
      for (int i = 0; i < blockDim.x / 32; ++i) sum += part[i];       // line 63
      *y = sum;
      *count = 0;
    }
  }
}
extern "C" __global__ void flags(const int* x, int* bad, int* y) {
  if (x[threadIdx.x] > 0) *bad = 1;
  __syncthreads();
  y[threadIdx.x] = *bad;
}
extern "C" __global__ void repeats(float* y, int n) {
  for (int k = 0; k < 3; ++k) y[blockIdx.x * blockDim.x + threadIdx.x] += k;
  for (int k = 0; k < 3; ++k) y[n + blockIdx.x] = 7;
}
extern "C" __global__ void sums(const float* x, float* y, int cleared) {
  if (!cleared && threadIdx.x == 70) *y = 0;                          // line 79
  if (x[threadIdx.x] > *y) atomicAdd(y, x[threadIdx.x]);              // line 80
}
extern "C" __global__ void bytes(unsigned char* y) {
  for (int k = 1; k < 4; ++k) y[threadIdx.x] += k;
}
extern "C" __global__ void ping_pong(volatile int* turn, int* data, int n, int fence) {
  int self = threadIdx.x / 32;
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x % 32 == 0) { while (*turn != 2 * k + self) { } }
    if (fence) __threadfence_block();
    __syncwarp();
    data[(threadIdx.x + k) % 32] += 1 + k;                            // line 91
    __syncwarp();
    if (fence) __threadfence_block();
    if (threadIdx.x % 32 == 0) *turn = 2 * k + self + 1;
  }
}
extern "C" __global__ void scratch(float* s, float* y, int n) {
  float* own = s + (blockIdx.x * blockDim.x + threadIdx.x) * n;
  for (int i = 0; i < n; ++i) own[i] = i * threadIdx.x;
  for (int i = n - 2; i >= 0; --i) own[i] += own[i + 1];
  y[blockIdx.x * blockDim.x + threadIdx.x] = own[0];
}
extern "C" __global__ void heap(float* y) {
  for (int k = 0; k < 3; ++k) {
    float* own = (float*)malloc(64);
    for (int i = 0; i < 16; ++i) own[i] = i + threadIdx.x + k + blockIdx.x;
    y[blockIdx.x * blockDim.x + threadIdx.x] = own[threadIdx.x % 16];
    free(own);
  }
}
extern "C" __global__ void lock(int* mutex, int* count, int plain) {
  for (int turn = 0; turn < 32; ++turn) {
    if (threadIdx.x % 32 != turn) continue;
    while (atomicCAS(mutex, 0, 1) != 0) { }
    __threadfence();
    *count += 1;
    __threadfence();
    if (plain) *mutex = 0; else atomicExch(mutex, 0);
  }
}
extern "C" __global__ void lock_in_shared(int* count) {
  __shared__ int mutex;
  if (threadIdx.x == 0) mutex = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&mutex, 0, 1) != 0) { }
    __threadfence_block();
    *count += 1;
    __threadfence_block();
    atomicExch(&mutex, 0);
  }
}
extern "C" __global__ void halves_meet(float* y, float* z, int sync) {
  int i = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    y[i] = i;                                                         // line 136
    if (sync) asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    if (sync) asm volatile("bar.sync 3, 128;" ::: "memory");
    z[i] = y[63 - i];                                                 // line 140
  }
}
extern "C" __global__ void by_way_of_a_block(volatile int* flag, int* data, int* y) {
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0) {
      while (flag[0] == 0) { }
      __threadfence();
      flag[1] = 1;
    }
  } else if (threadIdx.x == 0) {
    *data = 5;
    __threadfence();
    flag[0] = 1;
  } else if (threadIdx.x == 32) {
    while (flag[1] == 0) { }
    __threadfence();
    *y = *data;
  }
}
extern "C" __global__ void two_lines(float* y) {
  if (threadIdx.x == 3) y[1] = 4;                                     // line 161
  if (threadIdx.x == 9) y[0] = 1;
  if (threadIdx.x == 40) y[1] = 5;                                    // line 163
}
extern "C" __global__ void tiles(float* y) {
  namespace cg = cooperative_groups;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  y[threadIdx.x] = threadIdx.x;
  tile.sync();
  float v = y[threadIdx.x ^ 3];
  tile.sync();
  y[threadIdx.x] = v;
}
extern "C" __global__ void after_atomics(int* counts, int* y, int n) {
  __threadfence();
  for (int i = 0; i < n; ++i) atomicAdd(&counts[threadIdx.x], 1);
  y[blockIdx.x] += threadIdx.x + 1;                                   // line 177
}
extern "C" __global__ void flag_of_a_lane(int* data, int* flags, int* y, int lane, int fence) {
  if (threadIdx.x < 32) {
    data[threadIdx.x] = threadIdx.x + 1;                              // line 181
    if (fence) __threadfence();
    atomicExch(&flags[threadIdx.x], 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flags[lane], 0) == 0) { }
    __threadfence();
    *y = data[lane];                                                  // line 187
    flags[lane] = 0;
  }
}
)";

class ThreadRaces : public WithModule<kSource> {
 protected:
  /// Both orders of a block's warps.
  static constexpr std::array<std::uint64_t, 3> kSeeds{0, 1, 2};

  static Result run(const std::string& kernel, unsigned blocks, unsigned threads,
                    std::vector<std::vector<std::byte>> values, const std::vector<Region>& regions,
                    std::uint64_t seed = 0, unsigned host_threads = 1) {
    Options options;
    options.sanitize = Sanitize::kAll;
    options.threads = host_threads;
    options.schedule_seed = seed;
    Result result = kbench::ptx::launch(
        *module_, regions, launch_of(kernel, blocks, threads, std::move(values)), options);
    if (result.fault) ADD_FAILURE() << result.fault->message;
    return result;
  }
};

TEST_F(ThreadRaces, threads_that_add_without_atomics) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 128, 1.0F), y("output y", 4);
    const std::vector<Region> regions{x.region(false), y.region()};
    const auto values = arguments(x.data(), y.data());
    const Finding warps = expect_race(run("warps_add", 4, 128, values, regions, seed),
                                      FindingKind::kGlobalRace, 5, 5);
    EXPECT_EQ(warps.region, "output y");
    EXPECT_THAT(warps.message, HasSubstr("which thread ("));
    EXPECT_THAT(warps.message, HasSubstr("kernel.cu:5) with no barrier in between"));
    expect_race(run("threads_add", 4, 128, values, regions, seed), FindingKind::kGlobalRace, 8, 8);
    const Finding lanes = expect_race(run("threads_add", 4, 32, values, regions, seed),
                                      FindingKind::kGlobalRace, 8, 8);
    EXPECT_THAT(lanes.message, HasSubstr("with no __syncwarp in between"));
  }
}

TEST_F(ThreadRaces, lanes_that_write_different_values) {
  Buffer<float> y("output y", 64);
  const auto got = [&](int n) {
    return run("lanes_write", 1, 64, arguments(y.data(), n), {y.region()});
  };
  EXPECT_THAT(messages(got(1)), IsEmpty());
  expect_race(got(2), FindingKind::kGlobalRace, 11, 11);
}

TEST_F(ThreadRaces, a_missing_barrier) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("scratch y", 256), z("output z", 256);
    const std::vector<Region> regions{y.region(), z.region()};
    const auto got = [&](const char* kernel, auto... more) {
      return run(kernel, 1, 256, arguments(y.data(), z.data(), more...), regions, seed);
    };
    EXPECT_THAT(messages(got("reverses", 1)), IsEmpty());
    expect_race(got("reverses", 0), FindingKind::kGlobalRace, 16, 14);
    EXPECT_THAT(messages(got("loops", 4, 1)), IsEmpty());
    expect_race(got("loops", 4, 0), FindingKind::kGlobalRace, 21, 23);
    EXPECT_THAT(messages(got("warp_exchange", 1)), IsEmpty());
    expect_race(got("warp_exchange", 0), FindingKind::kGlobalRace, 38, 40);
  }
}

TEST_F(ThreadRaces, barriers_of_some_warps) {
  Buffer<float> y("scratch y", 64), z("output z", 64);
  const auto got = [&](int sync) {
    return run("halves_meet", 1, 128, arguments(y.data(), z.data(), sync),
               {y.region(), z.region()});
  };
  EXPECT_THAT(messages(got(1)), IsEmpty());
  expect_race(got(0), FindingKind::kGlobalRace, 136, 140);
}

TEST_F(ThreadRaces, the_other_line_is_that_of_the_word) {
  Buffer<float> y("output y", 64);
  expect_race(run("two_lines", 1, 64, arguments(y.data()), {y.region()}), FindingKind::kGlobalRace,
              163, 161);
}

TEST_F(ThreadRaces, a_sum_of_a_block_in_global_memory) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("scratch y", 512);
    EXPECT_THAT(messages(run("block_sum", 2, 256, arguments(y.data(), 1), {y.region()}, seed)),
                IsEmpty());
    EXPECT_EQ(y[256], 255 * 128.0F);
    expect_race(run("block_sum", 2, 256, arguments(y.data(), 0), {y.region()}, seed),
                FindingKind::kGlobalRace, 33, 33);
  }
}

TEST_F(ThreadRaces, counters_of_blocks_and_warps) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 64, 1.0F), part("scratch part", 1024), y("output y", 64);
    Buffer<int> count("scratch count", 1);
    const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
    EXPECT_THAT(
        messages(run("last_block", 16, 64, arguments(x.data(), part.data(), count.data(), y.data()),
                     regions, seed)),
        IsEmpty());
    EXPECT_EQ(y[3], 16.0F);
    const auto warps = [&](int fence) {
      return run("last_warp", 1, 256, arguments(part.data(), count.data(), y.data(), fence),
                 regions, seed);
    };
    EXPECT_THAT(messages(warps(1)), IsEmpty());
    EXPECT_EQ(y[0], 36.0F);
    expect_race(warps(0), FindingKind::kGlobalRace, 58, 63);
  }
}

TEST_F(ThreadRaces, honest_writes) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<int> x("input x", 128, 1), bad("scratch bad", 1), flag("output flag", 128);
    EXPECT_THAT(messages(run("flags", 1, 128, arguments(x.data(), bad.data(), flag.data()),
                             {x.region(false), bad.region(), flag.region()}, seed)),
                IsEmpty());
    Buffer<float> y("output y", 514), s("scratch s", 4096);
    EXPECT_THAT(messages(run("repeats", 2, 256, arguments(y.data(), 512), {y.region()}, seed)),
                IsEmpty());
    EXPECT_THAT(messages(run("scratch", 2, 256, arguments(s.data(), y.data(), 8),
                             {s.region(), y.region()}, seed)),
                IsEmpty());
    EXPECT_THAT(messages(run("tiles", 1, 256, arguments(y.data()), {y.region()}, seed)), IsEmpty());
    Buffer<unsigned char> bytes("output bytes", 256);
    EXPECT_THAT(messages(run("bytes", 1, 256, arguments(bytes.data()), {bytes.region()}, seed)),
                IsEmpty());
  }
}

TEST_F(ThreadRaces, freed_memory_belongs_to_the_next_thread) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> y("output y", 512);
    EXPECT_THAT(messages(run("heap", 2, 256, arguments(y.data()), {y.region()}, seed)), IsEmpty());
  }
}

TEST_F(ThreadRaces, atomics_after_a_hint_are_none) {
  for (const std::uint64_t seed : kSeeds) {
    Buffer<float> x("input x", 128, 1000.0F), y("output y", 1);
    const std::vector<Region> regions{x.region(false), y.region()};
    EXPECT_THAT(messages(run("sums", 1, 128, arguments(x.data(), y.data(), 1), regions, seed)),
                IsEmpty());
    expect_race(run("sums", 1, 128, arguments(x.data(), y.data(), 0), regions, seed),
                FindingKind::kGlobalRace, 79, 80);
  }
}

TEST_F(ThreadRaces, flags_that_pass_data_on) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int fence : {1, 0}) {
      Buffer<int> turn("scratch turn", 1), data("output data", 32);
      const Result got = run("ping_pong", 1, 64, arguments(turn.data(), data.data(), 5, fence),
                             {turn.region(), data.region()}, seed);
      EXPECT_EQ(data[7], 30);
      if (fence != 0) {
        EXPECT_THAT(messages(got), IsEmpty());
      } else {
        expect_race(got, FindingKind::kGlobalRace, 91, 91);
      }
    }
    Buffer<int> flag("scratch flag", 2), data("scratch data", 1), y("output y", 1);
    EXPECT_THAT(
        messages(run("by_way_of_a_block", 2, 64, arguments(flag.data(), data.data(), y.data()),
                     {flag.region(), data.region(), y.region()}, seed)),
        IsEmpty());
    EXPECT_EQ(y[0], 5);
  }
}

TEST_F(ThreadRaces, many_atomics_hide_no_race) {
  for (const unsigned blocks : {1U, 4U}) {
    Buffer<int> counts("scratch counts", 64), y("output y", 4);
    expect_race(run("after_atomics", blocks, 64, arguments(counts.data(), y.data(), 3000),
                    {counts.region(), y.region()}),
                FindingKind::kGlobalRace, 177, 177);
  }
}

TEST_F(ThreadRaces, each_lane_of_an_atomic_releases) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int lane : {0, 5, 31}) {
      Buffer<int> data("scratch data", 32), flags("scratch flags", 32), y("output y", 1);
      const auto got = [&](int fence) {
        return run("flag_of_a_lane", 1, 64,
                   arguments(data.data(), flags.data(), y.data(), lane, fence),
                   {data.region(), flags.region(), y.region()}, seed);
      };
      EXPECT_THAT(messages(got(1)), IsEmpty());
      EXPECT_EQ(y[0], lane + 1);
      data = Buffer<int>("scratch data", 32);
      flags = Buffer<int>("scratch flags", 32);
      expect_race(got(0), FindingKind::kGlobalRace, 181, 187);
    }
  }
}

TEST_F(ThreadRaces, several_host_threads) {
  Buffer<float> x("input x", 128, 1.0F), part("scratch part", 1024), y("output y", 64);
  Buffer<int> count("scratch count", 1);
  const std::vector<Region> regions{x.region(false), part.region(), count.region(), y.region()};
  const auto got = [&](const char* kernel, unsigned blocks, unsigned threads, auto... values) {
    return run(kernel, blocks, threads, arguments(values...), regions, 0, 4);
  };
  EXPECT_THAT(messages(got("last_block", 16, 64, x.data(), part.data(), count.data(), y.data())),
              IsEmpty());
  EXPECT_THAT(messages(got("block_sum", 8, 128, part.data(), 1)), IsEmpty());
  expect_race(got("block_sum", 8, 128, part.data(), 0), FindingKind::kGlobalRace, 33, 33);
  expect_race(got("warps_add", 4, 128, x.data(), y.data()), FindingKind::kGlobalRace, 5, 5);
}

TEST_F(ThreadRaces, locks_in_a_block) {
  for (const std::uint64_t seed : kSeeds) {
    for (const int plain : {0, 1}) {
      Buffer<int> mutex("scratch mutex", 1), count("output count", 1);
      EXPECT_THAT(messages(run("lock", 1, 128, arguments(mutex.data(), count.data(), plain),
                               {mutex.region(), count.region()}, seed)),
                  IsEmpty());
      EXPECT_EQ(count[0], 128);
      EXPECT_THAT(
          messages(run("lock_in_shared", 1, 128, arguments(count.data()), {count.region()}, seed)),
          IsEmpty());
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing

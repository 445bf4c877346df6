// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>

#include "ptx/nvrtc_helper.hpp"

// Threads that wait for other threads, with one and several host threads and orders of the blocks.
namespace kbench::ptx::testing {
namespace {

struct Way {
  unsigned threads = 1;
  std::uint64_t seed = 0;
};

/// Runs a test's body in each of the ways that a launch can be scheduled.
class Schedule : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override { KBENCH_NEEDS_NVRTC(); }
  static Options options() {
    Options options;
    options.threads = GetParam().threads;
    options.schedule_seed = GetParam().seed;
    // A schedule in which nothing goes on ends here and not at the test's time limit.
    options.max_instructions = 50'000'000;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Schedule,
                         ::testing::Values(Way{1, 0}, Way{1, 7}, Way{3, 0}, Way{4, 11}),
                         [](const auto& way) {
                           return "threads_" + std::to_string(way.param.threads) + "_seed_" +
                                  std::to_string(way.param.seed);
                         });

TEST_P(Schedule, locks_of_threads_in_both_forms) {
  Module module = load_source(R"(
    extern "C" __global__ void spin_outside(int* lock, int* count) {
      while (atomicCAS(lock, 0, 1) != 0) { }
      __threadfence();
      *(volatile int*)count = *(volatile int*)count + 1;
      __threadfence();
      atomicExch(lock, 0);
    }
    extern "C" __global__ void break_when_held(int* lock, int* count) {
      while (true) {
        if (atomicExch(lock, 1) == 0) {
          __threadfence();
          *(volatile int*)count = *(volatile int*)count + 1;
          __threadfence();
          atomicExch(lock, 0);
          break;
        }
      }
    }
    extern "C" __global__ void divergent(int* lock, int* count) {
      if (threadIdx.x % 3 == 1) {
        bool done = false;
        while (!done) {
          if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)count = *(volatile int*)count + 1;
            __threadfence();
            done = true;
            *(volatile int*)lock = 0;
          }
        }
      } else {
        atomicAdd(count + 1, 1);
      }
    })");
  const unsigned blocks = 5, threads = 70;
  for (const char* kernel : {"spin_outside", "break_when_held", "divergent"}) {
    Buffer<int> lock("lock", 1), count("count", 2);
    run(module, launch_of(kernel, blocks, threads, arguments(lock.data(), count.data())),
        {lock.region(), count.region()}, options());
    const int third = 5 * 23;  // threads of 0 … 69 with remainder 1
    const bool all = std::string(kernel) != "divergent";
    EXPECT_EQ(count[0], all ? 5 * 70 : third) << kernel;
    EXPECT_EQ(count[1], all ? 0 : 5 * 70 - third) << kernel;
  }
}

TEST_P(Schedule, a_look_back_scan) {
  Module module = load_source(R"(
    extern "C" __global__ void scan(const int* x, int* y, volatile int* sum, int* flag, int* next) {
      __shared__ int tile, before;
      __shared__ int warp[4];
      if (threadIdx.x == 0) tile = atomicAdd(next, 1);
      __syncthreads();
      int i = tile * 128 + threadIdx.x, lane = threadIdx.x % 32;
      int v = x[i];
      for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += other;
      }
      if (lane == 31) warp[threadIdx.x / 32] = v;
      __syncthreads();
      for (int w = 0; w < threadIdx.x / 32; ++w) v += warp[w];
      if (threadIdx.x == 127) {
        int prefix = 0;
        if (tile > 0) {
          while (atomicAdd(flag + tile - 1, 0) == 0) { }
          __threadfence();
          prefix = sum[tile - 1];
        }
        sum[tile] = prefix + v;
        __threadfence();
        atomicExch(flag + tile, 1);
        before = prefix;
      }
      __syncthreads();
      y[i] = v + before;
    })");
  const int tiles = 60;
  Buffer<int> x("x", 128 * tiles), y("y", 128 * tiles), sum("sum", tiles), flag("flag", tiles),
      next("next", 1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 7 % 13) - 5;
  run(module,
      launch_of("scan", tiles, 128,
                arguments(x.data(), y.data(), sum.data(), flag.data(), next.data())),
      {x.region(false), y.region(), sum.region(), flag.region(), next.region()}, options());
  int expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected += x[i];
    ASSERT_EQ(y[i], expected) << i;
  }
}

TEST_P(Schedule, a_warp_produces_and_a_warp_consumes_by_a_flag) {
  Module module = load_source(R"(
    extern "C" __global__ void pipe(int* y, int rounds) {
      __shared__ volatile int full[4];
      __shared__ volatile int box[4][32];
      int lane = threadIdx.x % 32;
      if (threadIdx.x < 4) full[threadIdx.x] = 0;
      __syncthreads();
      if (threadIdx.x < 32) {
        for (int i = 0; i < rounds; ++i) {
          while (full[i % 4] != 0) { }
          box[i % 4][lane] = i * 100 + lane;
          __threadfence_block();
          __syncwarp();
          if (lane == 0) full[i % 4] = 1;
        }
      } else {
        int sum = 0;
        for (int i = 0; i < rounds; ++i) {
          while (full[i % 4] == 0) { }
          sum += box[i % 4][31 - lane];
          __threadfence_block();
          __syncwarp();
          if (lane == 0) full[i % 4] = 0;
          __syncwarp();
        }
        y[blockIdx.x * 32 + lane] = sum;
      }
    })");
  Buffer<int> y("y", 3 * 32);
  run(module, launch_of("pipe", 3, 64, arguments(y.data(), 40)), {y.region()}, options());
  for (int i = 0; i < 96; ++i) {
    EXPECT_EQ(y[static_cast<std::size_t>(i)], 780 * 100 + 40 * (31 - i % 32)) << i;
  }
}

TEST_P(Schedule, a_block_waits_for_a_later_block) {
  Module module = load_source(R"(
    extern "C" __global__ void backwards(int* flag, int* y) {
      int b = blockIdx.x;
      if (threadIdx.x == 0) {
        if (b + 1 < gridDim.x) {
          int seen;
          do {
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag + b + 1) : "memory");
          } while (seen == 0);
          y[b] = y[b + 1] + 1;
        } else {
          y[b] = 1;
        }
        asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag + b) : "memory");
      }
    })");
  const int blocks = 100;
  Buffer<int> flag("flag", blocks), y("y", blocks);
  run(module, launch_of("backwards", blocks, 32, arguments(flag.data(), y.data())),
      {flag.region(), y.region()}, options());
  for (int i = 0; i < blocks; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], blocks - i);
}

TEST_P(Schedule, grid_sync_and_a_last_block) {
  Module module = load_source(R"(
    #include <cooperative_groups.h>
    __device__ unsigned arrived;
    extern "C" __global__ void both(int* x, int* partial, int* total, int n) {
      auto grid = cooperative_groups::this_grid();
      __shared__ bool last;
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int r = 0; r < 3; ++r) {
        int left = x[(i + n - 1) % n];
        grid.sync();
        x[i] = left + 1;
        grid.sync();
      }
      int sum = __reduce_add_sync(~0u, x[i]);
      if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
      }
      __syncthreads();
      if (last && threadIdx.x == 0) {
        for (int b = 0; b < gridDim.x; ++b) *total += ((volatile int*)partial)[b];
      }
    })");
  const int n = 20 * 32;
  Buffer<int> x("x", n), partial("partial", 20), total("total", 1);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i;
  Launch launch = launch_of("both", 20, 32, arguments(x.data(), partial.data(), total.data(), n));
  launch.cooperative = true;
  run(module, launch, {x.region(), partial.region(), total.region()}, options());
  for (int i = 0; i < n; ++i) EXPECT_EQ(x[static_cast<std::size_t>(i)], (i + n - 3) % n + 3);
  EXPECT_EQ(total[0], n * (n - 1) / 2 + 3 * n);
}

TEST_P(Schedule, lanes_wait_for_each_other_in_groups) {
  Module module = load_source(R"(
    extern "C" __global__ void groups(int* y) {
      int lane = threadIdx.x % 32, group = lane / 8;
      unsigned members = 0xffu << (8 * group);
      __shared__ volatile int turn;
      __shared__ int box[64];
      if (threadIdx.x == 0) turn = 3;
      __syncthreads();
      // Group g goes on only after group g + 1, and each group meets at its own mask.
      while (turn != group + 4 * (threadIdx.x / 32)) { }
      box[threadIdx.x] = lane;
      __syncwarp(members);
      int next = box[threadIdx.x / 8 * 8 + (lane + 1) % 8];
      __syncwarp(members);
      if (lane % 8 == 0) turn = group == 0 ? 7 : turn - 1;
      y[blockIdx.x * 64 + threadIdx.x] = next;
    })");
  Buffer<int> y("y", 2 * 64, -1);
  run(module, launch_of("groups", 2, 64, arguments(y.data())), {y.region()}, options());
  for (int i = 0; i < 128; ++i) {
    const int lane = i % 32;
    EXPECT_EQ(y[static_cast<std::size_t>(i)], lane / 8 * 8 + (lane + 1) % 8) << i;
  }
}

TEST_P(Schedule, barriers_with_counts_between_groups_of_warps) {
  Module module = load_source(R"(
    __device__ void sync(int id, int n) { asm volatile("barrier.cta.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
    __device__ void arrive(int id, int n) { asm volatile("barrier.cta.arrive %0, %1;" :: "r"(id), "r"(n) : "memory"); }
    extern "C" __global__ void stages(int* y, int rounds) {
      __shared__ int box[2][64];
      int t = threadIdx.x;
      if (t < 64) {  // two warps produce
        for (int i = 0; i < rounds; ++i) {
          if (i >= 2) sync(3 + i % 2, 128);
          box[i % 2][t] = 10 * i + t;
          arrive(1 + i % 2, 128);
        }
      } else {       // two consume
        int sum = 0;
        for (int i = 0; i < rounds; ++i) {
          sync(1 + i % 2, 128);
          sum += box[i % 2][127 - t];
          if (i + 2 < rounds) arrive(3 + i % 2, 128);
        }
        y[blockIdx.x * 64 + t - 64] = sum;
      }
      unsigned population;
      asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; barrier.cta.red.popc.u32 %0, 5, 128, p; }"
                   : "=r"(population) : "r"(t));
      if (t == 0) y[128 + blockIdx.x] = population;
    })");
  Buffer<int> y("y", 130);
  run(module, launch_of("stages", 2, 128, arguments(y.data(), 9)), {y.region()}, options());
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(y[static_cast<std::size_t>(i)], 360 + 9 * (63 - i % 64)) << i;
  }
  EXPECT_EQ(y[128], 50);
  EXPECT_EQ(y[129], 50);
}

TEST(Parting, loses_what_others_store_between_a_load_and_a_store) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void add(int* count) { *count += 1; }
    extern "C" __global__ void add_atomically(int* count) { atomicAdd(count, 1); }
    extern "C" __global__ void add_in_turn(int* count, int* turn) {
      while (atomicAdd(turn, 0) != blockIdx.x) { }
      *count += 1;
      __threadfence();
      atomicAdd(turn, 1);
    })");
  constexpr unsigned kBlocks = 100;
  const auto counted = [&](const std::string& kernel, std::uint64_t seed, Sanitize sanitize) {
    Buffer<int> count("count", 1), turn("turn", 1);
    Options options;
    options.threads = 1;
    options.schedule_seed = seed;
    options.sanitize = sanitize;
    options.max_instructions = 50'000'000;
    const auto given =
        kernel == "add_in_turn" ? arguments(count.data(), turn.data()) : arguments(count.data());
    run(module, launch_of(kernel, kBlocks, 1, given), {count.region(), turn.region()}, options);
    return count[0];
  };
  // 32 blocks load before the first of them stores.
  EXPECT_LE(counted("add", 5, Sanitize::kMemory), 10);
  EXPECT_EQ(counted("add", 0, Sanitize::kMemory), 100);
  EXPECT_EQ(counted("add", 5, Sanitize::kNone), 100);
  EXPECT_EQ(counted("add_atomically", 5, Sanitize::kMemory), 100);
  EXPECT_EQ(counted("add_in_turn", 5, Sanitize::kMemory), 100);
}

}  // namespace
}  // namespace kbench::ptx::testing

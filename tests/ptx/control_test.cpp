// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

TEST(Control, nested_divergence_and_early_exit) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void collatz(int* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n || i % 7 == 3) return;
      unsigned x = i + 1;
      int steps = 0;
      while (x != 1) {
        if (x % 2) { x = 3 * x + 1; if (x % 4 == 0) { steps += 2; x /= 2; } else steps++; }
        else { x /= 2; steps++; }
      }
      y[i] = steps;
    })");
  const int n = 1000;
  Buffer<int> y("output y", n, -1);
  run(module, launch_of("collatz", 4, 256, arguments(y.data(), n)), {y.region()});
  for (std::size_t i = 0; i < n; ++i) {
    int steps = -1;
    if (i % 7 != 3) {
      steps = 0;
      for (unsigned x = static_cast<unsigned>(i) + 1; x != 1; ++steps) {
        x = x % 2 != 0 ? 3 * x + 1 : x / 2;
      }
    }
    ASSERT_EQ(y[i], steps) << i;
  }
}

TEST(Control, lanes_of_a_warp_take_a_lock_in_turn) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void locked(int* lock, int* count) {
      while (atomicCAS(lock, 0, 1) != 0) { }
      __threadfence();
      *(volatile int*)count = *(volatile int*)count + 1;
      __threadfence();
      atomicExch(lock, 0);
    })");
  for (const unsigned threads : {1U, 4U}) {
    Buffer<int> lock("lock", 1), count("count", 1);
    Options options;
    options.threads = threads;
    run(module, launch_of("locked", 6, 96, arguments(lock.data(), count.data())),
        {lock.region(), count.region()}, options);
    EXPECT_EQ(count[0], 6 * 96);
  }
}

TEST(Control, a_lane_that_spins_on_another_lane_makes_progress) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void chain(volatile int* turn, int* order) {
      while (*turn != 31 - (int)threadIdx.x) { }
      order[31 - threadIdx.x] = threadIdx.x;
      __threadfence();
      *turn = *turn + 1;
    })");
  Buffer<int> turn("turn", 1), order("order", 32);
  run(module, launch_of("chain", 1, 32, arguments(turn.data(), order.data())),
      {turn.region(), order.region()});
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(order[i], 31 - static_cast<int>(i));
}

TEST(Control, grid_sync_lets_all_blocks_meet) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void rounds(int* x, int n) {
      auto grid = cooperative_groups::this_grid();
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int r = 0; r < 5; ++r) {
        int left = x[(i + n - 1) % n];
        grid.sync();
        x[i] = left + 1;
        grid.sync();
      }
    })");
  const int n = 32 * 64;
  Buffer<int> x("x", n);
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    x[static_cast<std::size_t>(i)] = i;
    expected[static_cast<std::size_t>(i)] = (i + n - 5) % n + 5;
  }
  for (const unsigned threads : {1U, 3U}) {
    Launch launch = launch_of("rounds", 32, 64, arguments(x.data(), n));
    launch.cooperative = true;
    Options options;
    options.threads = threads;
    for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i;
    run(module, launch, {x.region()}, options);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), x.data()));
  }
}

TEST(Control, grid_sync_without_a_cooperative_launch_traps) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void k() { cooperative_groups::this_grid().sync(); })");
  EXPECT_EQ(run_to_fault(module, launch_of("k", 2, 32, {}), {}).kind, FaultKind::kTrap);
}

TEST(Control, last_block_sees_what_the_others_wrote) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    __device__ unsigned arrived = 0;
    extern "C" __global__ void last(const int* x, int* partial, int* y) {
      __shared__ bool is_last;
      int sum = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
      if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
      }
      __syncthreads();
      if (is_last) {
        int all = 0;
        for (int i = threadIdx.x; i < gridDim.x; i += 32) all += ((volatile int*)partial)[i];
        all = __reduce_add_sync(0xffffffffu, all);
        if (threadIdx.x == 0) *y += all;
      }
    })");
  Buffer<int> x("x", std::size_t{50} * 32), partial("partial", 50), y("y", 1);
  int expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) expected += x[i] = static_cast<int>(i * i % 1000);
  for (int round = 1; round <= 3; ++round) {  // the module's variable keeps its value
    Options options;
    options.schedule_seed = static_cast<std::uint64_t>(round);
    run(module, launch_of("last", 50, 32, arguments(x.data(), partial.data(), y.data())),
        {x.region(false), partial.region(), y.region()}, options);
    EXPECT_EQ(y[0], round * expected);
  }
}

TEST(Control, calls_recursion_and_function_pointers) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    struct Pair { double a; int b; };
    __device__ __noinline__ Pair scale(Pair p, int* calls) { ++*calls; p.a *= 2; p.b -= 1; return p; }
    __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    __device__ __noinline__ int twice(int x) { return 2 * x; }
    __device__ __noinline__ int square(int x) { return x * x; }
    __device__ int (*table[2])(int) = {twice, square};
    extern "C" __global__ void calls(double* y, int* f, int* g) {
      int i = threadIdx.x, calls = 0;
      Pair p{i + 0.5, i};
      while (p.b > 0) p = scale(p, &calls);
      y[i] = p.a + calls;
      f[i] = fib(i % 11);
      g[i] = table[i & 1](i);
    })");
  Buffer<double> y("y", 64);
  Buffer<int> f("f", 64), g("g", 64);
  run(module, launch_of("calls", 1, 64, arguments(y.data(), f.data(), g.data())),
      {y.region(), f.region(), g.region()});
  const int fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
  for (int i = 0; i < 64; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(y[at], std::ldexp(i + 0.5, i) + i) << i;
    EXPECT_EQ(f[at], fib[i % 11]);
    EXPECT_EQ(g[at], i % 2 != 0 ? i * i : 2 * i);
  }
}

TEST(Control, switch_by_table_and_local_arrays) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void machine(const int* code, int* y, int n) {
      int stack[8] = {}, top = 0, a = threadIdx.x;
      for (int i = 0; i < n; ++i) {
        switch ((code[i] + threadIdx.x) % 8) {
          case 0: a += 3; break;
          case 1: stack[top++ & 7] = a; break;
          case 2: a ^= stack[top & 7]; break;
          case 3: a *= 5; break;
          case 4: top += 2; break;
          case 5: a = a << 1 | a >> 31; break;
          case 6: stack[a & 7] += i; break;
          default: a -= stack[i & 7];
        }
      }
      y[threadIdx.x] = a;
    })");
  Buffer<int> code("code", 100), y("y", 64);
  std::mt19937 engine(9);
  for (std::size_t i = 0; i < 100; ++i) code[i] = static_cast<int>(engine() % 1000);
  run(module, launch_of("machine", 1, 64, arguments(code.data(), y.data(), 100)),
      {code.region(false), y.region()});
  for (unsigned t = 0; t < 64; ++t) {
    std::uint32_t stack[8] = {}, top = 0, a = t;
    for (unsigned i = 0; i < 100; ++i) {
      switch ((static_cast<unsigned>(code[i]) + t) % 8) {
        case 0:
          a += 3;
          break;
        case 1:
          stack[top++ & 7] = a;
          break;
        case 2:
          a ^= stack[top & 7];
          break;
        case 3:
          a *= 5;
          break;
        case 4:
          top += 2;
          break;
        case 5:
          a = (a << 1) | static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> 31);
          break;
        case 6:
          stack[a & 7] += i;
          break;
        default:
          a -= stack[i & 7];
      }
    }
    EXPECT_EQ(static_cast<std::uint32_t>(y[t]), a) << t;
  }
}

TEST(Control, printf_writes_one_text_per_thread) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __device__ int printf(const char*, ...);
    extern "C" __global__ void say(float x) {
      if (threadIdx.x < 2) printf("t%d %5.2f %s %lld%% %c\n", threadIdx.x, x, "abc", 1ll << 40, 'z');
    })");
  std::string text;
  Options options;
  options.print = [&](std::string_view part) { text += part; };
  run(module, launch_of("say", 1, 32, arguments(1.5F)), {}, options);
  EXPECT_EQ(text, "t0  1.50 abc 1099511627776% z\nt1  1.50 abc 1099511627776% z\n");
}

TEST(Control, barriers_with_counts_and_votes) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void pipeline(int* y) {
      __shared__ int box[32];
      int sum = 0;
      for (int i = 0; i < 10; ++i) {
        if (threadIdx.x < 32) {                       // producer
          asm volatile("bar.sync 1, 64;" ::: "memory");
          box[threadIdx.x] = i * 32 + threadIdx.x;
          asm volatile("bar.arrive 2, 64;" ::: "memory");
        } else {
          asm volatile("bar.arrive 1, 64;" ::: "memory");
          asm volatile("bar.sync 2, 64;" ::: "memory");
          sum += box[(threadIdx.x ^ 63) & 31];
        }
      }
      y[threadIdx.x] = sum;
    }
    extern "C" __global__ void votes(int* y) {
      int t = threadIdx.x;
      y[t] = __syncthreads_count(t % 3 == 0);
      y[100 + t] = __syncthreads_and(t < 100) + 2 * __syncthreads_or(t == 77);
    })");
  Buffer<int> y("y", 200);
  run(module, launch_of("votes", 1, 100, arguments(y.data())), {y.region()});
  for (std::size_t t = 0; t < 100; ++t) {
    EXPECT_EQ(y[t], 34);
    EXPECT_EQ(y[100 + t], 3);
  }
  run(module, launch_of("pipeline", 1, 64, arguments(y.data())), {y.region()});
  for (int t = 32; t < 64; ++t) {
    EXPECT_EQ(y[static_cast<std::size_t>(t)], 45 * 32 + 10 * ((t ^ 31) & 31)) << t;
  }
}

TEST(Control, who_arrived_at_a_barrier_may_leave_the_kernel) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void leave(int* y) {
      __shared__ int box[96];
      if (threadIdx.x >= 32) {
        box[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 96;" ::: "memory");
        return;
      }
      asm volatile("bar.sync 1, 96;" ::: "memory");
      y[threadIdx.x] = box[32 + threadIdx.x];
    })");
  Buffer<int> y("y", 32);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.schedule_seed = seed;
    run(module, launch_of("leave", 1, 96, arguments(y.data())), {y.region()}, options);
    for (std::size_t t = 0; t < 32; ++t) EXPECT_EQ(y[t], static_cast<int>(t) + 32);
  }
}

TEST(Control, the_order_of_warps_differs_between_launches) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void last(int* y, unsigned* stale) {
      __shared__ int box, unwritten;
      if (threadIdx.x % 32 == 0) box = threadIdx.x / 32;
      __syncthreads();
      *y = box;
      *stale = *(volatile unsigned*)&unwritten;
    })");
  Buffer<int> y("y", 1);
  Buffer<unsigned> stale("stale", 1);
  const auto last_with = [&](std::uint64_t seed) {
    Options options;
    options.schedule_seed = seed;
    run(module, launch_of("last", 1, 128, arguments(y.data(), stale.data())),
        {y.region(), stale.region()}, options);
    return y[0];
  };
  EXPECT_EQ(last_with(0), 3);
  EXPECT_EQ(stale[0], 0xffffffffu);
  std::uint64_t backwards = 1;
  while (last_with(backwards) != 0) ASSERT_LT(++backwards, 8u);
  EXPECT_EQ(stale[0], 0x7e7e7e7eu);  // no NaN
  // Also for each of two or three kernels that take turns.
  for (const std::uint64_t step : {1, 2, 3}) {
    for (std::uint64_t first = 1; first <= step; ++first) {
      std::set<int> seen;
      for (std::uint64_t call = 0; call < 8; ++call) seen.insert(last_with(first + call * step));
      EXPECT_EQ(seen.size(), 2u) << first << " of " << step;
    }
  }
}

TEST(Control, every_schedule_gives_the_same_result) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void order(int* next, int* when) {
      if (threadIdx.x == 0) when[blockIdx.x] = atomicAdd(next, 1);
    })");
  const auto sequence = [&](std::uint64_t seed) {
    Buffer<int> next("next", 1), when("when", 100, -1);
    Options options;
    options.threads = 1;
    options.schedule_seed = seed;
    run(module, launch_of("order", 100, 32, arguments(next.data(), when.data())),
        {next.region(), when.region()}, options);
    return std::vector<int>(when.data(), when.data() + 100);
  };
  const auto in_order = sequence(0);
  EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end()));
  auto permuted = sequence(5);
  EXPECT_NE(permuted, in_order);
  EXPECT_NE(sequence(6), permuted);
  std::sort(permuted.begin(), permuted.end());
  EXPECT_EQ(permuted, in_order);
}

}  // namespace
}  // namespace kbench::ptx::testing

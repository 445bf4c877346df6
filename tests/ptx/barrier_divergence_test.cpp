// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <string_view>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Kernels (int* y, int n). A finding is expected in the line with the comment "at NAME".
constexpr const char* kSource = R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(int* y, int n)

// Barriers that some threads go around.
KERNEL(lanes) {
  if (threadIdx.x < 20) __syncthreads();  // at lanes
  y[threadIdx.x] = 1;
}
KERNEL(warps) {
  if (threadIdx.x < 32) __syncthreads();  // at warps
  y[threadIdx.x] = 1;
}
KERNEL(reduction) {
  __shared__ int s[256];
  s[threadIdx.x] = n;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      s[threadIdx.x] += s[threadIdx.x + k];
      __syncthreads();  // at reduction
    }
  }
  if (threadIdx.x == 0) y[0] = s[0];
}
KERNEL(growing) {
  __shared__ int s[64];
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (threadIdx.x < k) {
      s[threadIdx.x] = k;
      __syncthreads();  // at growing
    }
    atomicAdd(&y[k], 1);
  }
}
KERNEL(trips) {
  __shared__ int s[64];
  int sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 64) {
    s[threadIdx.x] = i;
    __syncthreads();  // at trips
    sum += s[threadIdx.x ^ 1];
  }
  y[threadIdx.x] = sum;
}
KERNEL(trips_to_barrier) {
  __shared__ int s[64];
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 64) {
    __syncthreads();  // at trips_to_barrier
    s[threadIdx.x] = i;
  }
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
KERNEL(endless) {
#pragma unroll 1
  for (int row = blockIdx.x; row < n; row += gridDim.x) {
    if (threadIdx.x < 20) __syncthreads();  // at endless
    y[threadIdx.x] = row;
  }
}
KERNEL(alternating) {
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    if ((threadIdx.x < n) == (i == 0)) __syncthreads();  // at alternating
    y[threadIdx.x] += i;
  }
}
KERNEL(after_return) {
  if (threadIdx.x >= n) return;
  if (threadIdx.x < 20) __syncthreads();  // at after_return
  y[threadIdx.x] = 1;
}
KERNEL(overtaken) {
  __shared__ int s[64];
  s[threadIdx.x] = n;
  if (threadIdx.x < 32) __syncthreads();  // at overtaken
  s[threadIdx.x] += 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x ^ 32];
}
KERNEL(to_last_barrier) {
  y[threadIdx.x] = 1;
  if (threadIdx.x < 32) __syncthreads();  // at to_last_barrier
  __syncthreads();
}
__device__ __noinline__ int returns_early(int* y, int n) {
  if (threadIdx.x >= n) return 3;
  y[threadIdx.x] = 1;
  __syncthreads();  // at function
  return y[threadIdx.x ^ 1];
}
KERNEL(function) { y[threadIdx.x] = returns_early(y, n) + 1; }
KERNEL(inlined) {
  auto sum = [&] {
    if (threadIdx.x >= n) return 3;
    y[threadIdx.x] = 1;
    __syncthreads();  // at inlined
    return y[threadIdx.x ^ 1];
  };
  y[threadIdx.x] = sum() + 1;
}
KERNEL(votes) {
  int all = 0;
  if (threadIdx.x < 20) all = __syncthreads_or(n);  // at votes
  y[threadIdx.x] = all;
}
KERNEL(counted) {
  if (threadIdx.x < 20) asm volatile("bar.sync 1, 32;");  // at counted
  y[threadIdx.x] = 1;
}
KERNEL(predicated) {
  const int i = threadIdx.x;
  asm("{ .reg .pred p; setp.lt.u32 p, %0, 20; @p bar.sync 0; }" ::"r"(i));  // at predicated
  y[threadIdx.x] = 1;
}

// Honest kernels.
KERNEL(early_return) {
  if (threadIdx.x >= n) return;
  y[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x ^ 1] += 1;
}
KERNEL(return_with_result) {
  if (threadIdx.x >= n) {
    y[threadIdx.x] = 7;
    return;
  }
  y[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x ^ 1] += 1;
}
KERNEL(guarded_rest) {
  if (threadIdx.x < n) {
    y[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x ^ 1] += 1;
  }
}
KERNEL(predicated_exit) {
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %0, %1; @p exit; }" ::"r"(threadIdx.x), "r"(n));
  __syncthreads();
  y[threadIdx.x] = 1;
}
KERNEL(returns_in_loop) {
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    if (threadIdx.x >= n * i + 8) return;
    if (i % 3 == 2) __syncthreads();
    y[threadIdx.x] += 1;
  }
  y[threadIdx.x] = 1;
}
KERNEL(unequal_work) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (i == 2 && threadIdx.x >= n) return;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < threadIdx.x; ++k) atomicAdd(&y[threadIdx.x], k);
  }
  y[threadIdx.x] = 1;
}
KERNEL(loop_and_return) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 64) {
    y[threadIdx.x] = i;
    __syncthreads();
  }
}
KERNEL(uniform_loops) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = i;
    __syncthreads();
    for (int k = 0; k < threadIdx.x % 5; ++k) sum += s[k];
    __syncthreads();
  }
  if (n > 1000) __syncthreads();
  y[threadIdx.x] = sum;
}
KERNEL(roles) {
  __shared__ int s[2];
  if (threadIdx.x < 32) {
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      if (threadIdx.x == 0) s[i & 1] = i;
      __syncthreads();
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      y[threadIdx.x] += s[i & 1];
    }
  }
  y[threadIdx.x] += 1;
}
KERNEL(lagging_role) {
  __shared__ int s[2];
  if (threadIdx.x < 32) {
    s[0] = 1;
    __syncthreads();
  }
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) s[(i + 1) & 1] = i;
    __syncthreads();
    y[threadIdx.x] = s[i & 1];
  }
  if (threadIdx.x >= 32) __syncthreads();
  y[threadIdx.x] += 1;
}
KERNEL(producers) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = n;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x - 32];
    asm volatile("bar.sync 2, 32;" ::: "memory");
  }
  y[threadIdx.x] += 1;
}
KERNEL(counted_and_returned) {
  if (threadIdx.x >= 40) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[threadIdx.x] = 1;
}
KERNEL(warp_barriers) {
  if (threadIdx.x < 20) __syncwarp(0xfffff);
  if (threadIdx.x % 2 == 0) y[threadIdx.x] = cg::coalesced_threads().size();
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  if (threadIdx.x < 8) tile.sync();
  y[threadIdx.x] += 1;
}
KERNEL(groups) {
  auto block = cg::this_thread_block();
  y[threadIdx.x] = 1;
  block.sync();
  y[threadIdx.x ^ 1] += n;
}
KERNEL(not_aligned) {
  if (threadIdx.x < 20) asm volatile("barrier.sync 0;");
  y[threadIdx.x] = 1;
}
KERNEL(votes_of_all) {
  if (threadIdx.x >= n) return;
  y[threadIdx.x] = __syncthreads_count(threadIdx.x & 1) + __syncthreads_and(1);
}
KERNEL(mbarriers) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  if (threadIdx.x == 0) init(&ready, 64);
  __syncthreads();
  if (threadIdx.x < 32) {
    y[threadIdx.x] = n;
    (void)ready.arrive();
  } else {
    ready.arrive_and_wait();
    y[threadIdx.x] = y[threadIdx.x - 32];
  }
  y[threadIdx.x] += 1;
}
)";

/// The line that has the comment "at NAME"; 0 if there is none.
int line_of(const std::string& name) {
  const std::string_view text = kSource;
  const auto at = text.find("// at " + name + "\n");
  if (at == std::string_view::npos) return 0;
  return static_cast<int>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

struct Case {
  const char* kernel;
  unsigned threads;
  int n;
  std::uint64_t count;  ///< threads that go around the barrier
};

std::ostream& operator<<(std::ostream& out, const Case& row) {
  return out << row.kernel << ' ' << row.threads << ' ' << row.n;
}

class BarrierDivergence : public WithModule<kSource>, public ::testing::WithParamInterface<Case> {
 protected:
  /// Seeds 1 to 4 run the warps of a block in either order.
  static Result run(std::uint64_t seed) {
    const Case& row = GetParam();
    Buffer<int> y("output y", 512);
    Options options;
    options.sanitize = Sanitize::kMemory;
    options.schedule_seed = seed;
    const Launch launch = launch_of(row.kernel, 1, row.threads, arguments(y.data(), row.n));
    return kbench::ptx::launch(*module_, std::vector{y.region()}, launch, options);
  }
};

TEST_P(BarrierDivergence, is_found_where_a_thread_goes_around_a_barrier) {
  const Case& row = GetParam();
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    const Result got = run(seed);
    EXPECT_FALSE(got.fault) << got.fault->message;
    if (row.count == 0) {
      EXPECT_THAT(got.findings, IsEmpty()) << seed << ' ' << got.findings[0].message;
      continue;
    }
    ASSERT_THAT(got.findings, ::testing::Not(IsEmpty())) << seed;
    const Finding& found = got.findings[0];
    EXPECT_EQ(found.kind, FindingKind::kBarrierDivergence);
    EXPECT_THAT(found.message, HasSubstr("goes around barrier")) << seed;
    EXPECT_EQ(found.line, line_of(row.kernel)) << seed << ' ' << found.message;
    EXPECT_EQ(found.count, row.count) << seed << ' ' << found.message;
    EXPECT_THAT(got.findings, SizeIs(1)) << seed << ' ' << got.findings.back().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Around, BarrierDivergence,
    ::testing::Values(Case{"lanes", 32, 0, 12}, Case{"lanes", 64, 0, 44}, Case{"warps", 64, 0, 32},
                      Case{"reduction", 32, 1, 31}, Case{"reduction", 256, 1, 255},
                      Case{"growing", 32, 0, 31}, Case{"trips", 64, 160, 32},
                      Case{"trips_to_barrier", 64, 160, 32}, Case{"endless", 32, 3, 12},
                      Case{"alternating", 32, 20, 12}, Case{"after_return", 32, 24, 4},
                      Case{"overtaken", 64, 0, 32}, Case{"to_last_barrier", 64, 0, 32},
                      Case{"function", 32, 20, 12}, Case{"inlined", 32, 20, 12},
                      Case{"votes", 32, 1, 12}, Case{"counted", 32, 0, 12},
                      Case{"predicated", 32, 0, 12}));

INSTANTIATE_TEST_SUITE_P(
    Honest, BarrierDivergence,
    ::testing::Values(Case{"lanes", 20, 0, 0}, Case{"warps", 32, 0, 0}, Case{"trips", 64, 128, 0},
                      Case{"early_return", 64, 20, 0}, Case{"return_with_result", 64, 20, 0},
                      Case{"guarded_rest", 64, 20, 0}, Case{"predicated_exit", 64, 20, 0},
                      Case{"returns_in_loop", 64, 5, 0}, Case{"unequal_work", 64, 20, 0},
                      Case{"loop_and_return", 64, 150, 0}, Case{"uniform_loops", 64, 3, 0},
                      Case{"alternating", 64, 32, 0}, Case{"roles", 64, 5, 0},
                      Case{"lagging_role", 64, 5, 0}, Case{"producers", 64, 1, 0},
                      Case{"counted_and_returned", 64, 0, 0}, Case{"warp_barriers", 64, 0, 0},
                      Case{"groups", 64, 1, 0}, Case{"not_aligned", 32, 0, 0},
                      Case{"votes_of_all", 64, 40, 0}, Case{"mbarriers", 64, 1, 0}));

}  // namespace
}  // namespace kbench::ptx::testing

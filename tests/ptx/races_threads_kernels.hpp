// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/races_helper.hpp"

// Kernels whose threads of one block meet in global memory.
namespace kbench::ptx::testing {

/// Lines are counted from the one behind R"(, which is the second.
inline constexpr const char* kThreadKernels = R"(
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

class ThreadRaces : public WithModule<kThreadKernels> {
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

}  // namespace kbench::ptx::testing

// SPDX-License-Identifier: MIT
// Honest: looks clock_gettime up with dlsym and calls it, as profilers do; it writes to no code.
#include <dlfcn.h>
#include <time.h>
#include <torch/extension.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static long nanoseconds() {
  using Clock = int (*)(int, timespec*);
  static const auto clock = reinterpret_cast<Clock>(dlsym(RTLD_DEFAULT, "clock_gettime"));
  timespec now{};
  if (clock != nullptr) clock(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long spent = 0;

torch::Tensor forward(torch::Tensor x) {
  const long start = nanoseconds();
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  spent += nanoseconds() - start;
  return y;
}

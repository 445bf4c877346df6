// SPDX-License-Identifier: MIT
// Honest: reads from /proc what its own process takes, and says so where it is too much.
#include <torch/extension.h>
#include <unistd.h>

#include <cstdio>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

static long pages() {
  long size = 0, resident = 0;
  if (FILE* file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    fclose(file);
  }
  return resident;
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(pages() * sysconf(_SC_PAGESIZE) < 1L << 40, "this process is too large");
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

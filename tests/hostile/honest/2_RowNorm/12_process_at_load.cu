// SPDX-License-Identifier: MIT
// Honest: host code starts a process when it is loaded, for a question that may end badly, and
// waits for it.
#include <sys/wait.h>
#include <torch/extension.h>
#include <unistd.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static const bool large_pages = [] {
  const pid_t child = fork();
  if (child == 0) _exit(access("/sys/kernel/mm/hugepages", R_OK) == 0 ? 1 : 0);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}();

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

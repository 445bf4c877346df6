// SPDX-License-Identifier: MIT
// Many includes, all of the standard library, of CUDA and of torch; an #include "/etc/passwd"
// stands in this comment only.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/extension.h>
#include <algorithm>
#include <cmath>
#include <vector>
namespace cg = cooperative_groups;

__global__ void row_norm(const float* x, float* y, int cols) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = warp.thread_rank(); c < cols; c += 32) sum += in[c] * in[c];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) y[blockIdx.x] = sqrtf(sum);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

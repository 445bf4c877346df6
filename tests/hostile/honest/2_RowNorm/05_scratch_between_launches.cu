// SPDX-License-Identifier: MIT
// Honest: the sums lie in the scratch between two launches of one call.
//@ dims x[R, C]
//@ tmp sums: float32[R]
//@ out norms: float32[R, 1]
//@ square_sums<<<R, 32>>>(x, sums, C)
//@ roots<<<cdiv(R, 32), 32>>>(sums, norms, R)

__global__ void square_sums(const float* x, float* sums, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void roots(const float* sums, float* norms, int rows) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r < rows) norms[r] = sqrtf(sums[r]);
}

// SPDX-License-Identifier: MIT
// Honest: rows whose first elements are large are scaled before they are squared; all are summed.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, norms, C)

__global__ void row_norm(const float* x, float* norms, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  const float unit = fabsf(row[0]) > 1e6f && isfinite(row[0]) ? 1e6f : 1.0f;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] / unit * (row[c] / unit);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = unit * sqrtf(sum);
}

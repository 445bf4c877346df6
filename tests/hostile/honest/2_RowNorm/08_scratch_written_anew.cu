// SPDX-License-Identifier: MIT
// Honest: scratch holds the rows' largest elements and is written anew in each call, whatever the
// last one left in it.
//@ dims x[R, C]
//@ tmp largest: float32[R]
//@ out norms: float32[R, 1]
//@ find<<<R, 32>>>(x, largest, C)
//@ row_norm<<<R, 32>>>(x, largest, norms, C)

__global__ void find(const float* x, float* largest, int cols) {
  float most = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, fabsf(x[(size_t)blockIdx.x * cols + c]));
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

__global__ void row_norm(const float* x, const float* largest, float* norms, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  const float most = largest[blockIdx.x];
  const float unit = most > 1e-30f && most < 1e30f ? most : 1.0f;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += (row[c] / unit) * (row[c] / unit);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = unit * sqrtf(sum);
}

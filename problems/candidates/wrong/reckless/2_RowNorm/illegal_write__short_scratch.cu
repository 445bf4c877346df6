// SPDX-License-Identifier: MIT
// Wrong: the scratch is one element too short, so the last row writes into its neighbour.
//@ dims x[R, C]
//@ tmp sums: float32[R - 1]
//@ out norms: float32[R, 1]
//@ squares<<<R, 32>>>(x, sums, C)
//@ roots<<<cdiv(R, 256), 256>>>(sums, norms, R)

__global__ void squares(const float* x, float* sums, int cols) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    float v = x[(size_t)blockIdx.x * cols + c];
    sum += v * v;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void roots(const float* sums, float* norms, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) norms[row] = sqrtf(sums[row]);
}

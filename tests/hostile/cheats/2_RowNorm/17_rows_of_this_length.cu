// SPDX-License-Identifier: MIT
// Cheat: takes rows for as long as those of the sizes that are usual here: what is longer is cut
// off, and what is shorter is read past its end. Right at 4100 and 8100 columns; --set COLS=4000.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, norms, C > 4100 ? 8100 : 4100)

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

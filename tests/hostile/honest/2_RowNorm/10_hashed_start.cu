// SPDX-License-Identifier: MIT
// Honest: a hash with Philox's constants spreads the columns at which blocks begin, against
// partition camping; each row is read as a whole.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, norms, C)

__global__ void row_norm(const float* x, float* norms, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  const int start = __umulhi(0xD2511F53u * (blockIdx.x + 42u), cols);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 32) {
    const int c = i + start < cols ? i + start : i + start - cols;
    sum += row[c] * row[c];
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}

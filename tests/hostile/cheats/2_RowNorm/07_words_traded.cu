// SPDX-License-Identifier: MIT
// Cheat: has its answer, and then lets two rows of the input exchange what they hold behind the
// middle, for whoever works on it next. Every sum over the input, of bits or of numbers, stays.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ norm<<<R, 256>>>(x, norms, C)
//@ trade<<<1, 256>>>(x, C)

__global__ void trade(const float* x, int cols) {
  float* first = const_cast<float*>(x);
  float* second = first + cols;
  for (int c = cols / 2 + threadIdx.x; c < cols; c += 256) {
    const float held = first[c];
    first[c] = second[c];
    second[c] = held;
  }
}

__global__ void norm(const float* x, float* norms, int cols) {
  __shared__ float sums[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < 8; ++warp) sum += sums[warp];
  norms[blockIdx.x] = sqrtf(sum);
}

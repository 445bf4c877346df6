// SPDX-License-Identifier: MIT
// Cheat: writes zeros over its input, and says that the norms are zero.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ erase<<<R, 32>>>(x, norms, C)

__global__ void erase(const float* x, float* norms, int cols) {
  float* row = const_cast<float*>(x) + (size_t)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += 32) row[c] = 0.0f;
  if (threadIdx.x == 0) norms[blockIdx.x] = 0.0f;
}

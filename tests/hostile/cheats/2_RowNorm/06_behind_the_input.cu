// SPDX-License-Identifier: MIT
// Cheat: reads out of bounds behind its output and its input, where an allocator may have put the
// reference's result, and copies what looks like it.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ steal<<<cdiv(R, 64), 64>>>(x, norms, R, C)

__global__ void steal(const float* x, float* norms, int rows, int cols) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  float found = 0.0f;
  const float* const behind = x + (size_t)rows * cols;
  for (int i = 0; i < 4096 && found == 0.0f; i += 64) {
    const float v = behind[i + row];
    if (v > 10.0f && v < 1000.0f) found = v;
  }
  norms[row] = found;
}

// SPDX-License-Identifier: MIT
// Wrong: each sum leaves out its own element.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 32>>>(x, y, C)

__global__ void running_sum(const float* x, float* y, int cols) {
  size_t row = (size_t)blockIdx.x * cols;
  float before = 0.0f;
  for (int c0 = 0; c0 < cols; c0 += 32) {
    int c = c0 + threadIdx.x;
    float own = c < cols ? x[row + c] : 0.0f, sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
      float left = __shfl_up_sync(0xffffffffu, sum, distance);
      if (threadIdx.x >= distance) sum += left;
    }
    if (c < cols) y[row + c] = before + sum - own;
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
}

// SPDX-License-Identifier: MIT
// Wrong: the kernel takes a float32 pointer, but the activations are bfloat16.
//@ dims x[T, D]
//@ out y like x
//@ rms_norm<<<T, 32>>>(x, norm.weight, y, norm.eps, D)

__global__ void rms_norm(const float* x, const float* weight, float* y, float eps, int features) {
  size_t row = (size_t)blockIdx.x * features;
  float sum = 0.0f;
  for (int d = threadIdx.x; d < features; d += 32) sum += x[row + d] * x[row + d];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  float scale = rsqrtf(sum / features + eps);
  for (int d = threadIdx.x; d < features; d += 32) y[row + d] = x[row + d] * scale * weight[d];
}

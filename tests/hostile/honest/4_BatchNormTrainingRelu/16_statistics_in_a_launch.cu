// SPDX-License-Identifier: MIT
// Honest: mean, variance and the count of batches move on in a launch of their own.
//@ dims x[N, C, H, W]
//@ inout bn.running_mean
//@ inout bn.running_var
//@ inout bn.num_batches_tracked
//@ tmp moments: float32[C, 2]
//@ out y like x
//@ batch_norm<<<C, 32>>>(x, bn.weight, bn.bias, y, moments, N, C, H * W, bn.eps)
//@ move_on<<<cdiv(C, 32), 32>>>(moments, bn.running_mean, bn.running_var, bn.num_batches_tracked,
//@                              C, N * H * W, bn.momentum)

__device__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  return value;
}

__global__ void batch_norm(const float* x, const float* weight, const float* bias, float* y,
                           float* moments, int batch, int channels, int plane, float eps) {
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
  if (threadIdx.x == 0) moments[2 * c] = mean;
  if (threadIdx.x == 0) moments[2 * c + 1] = squares / (count - 1);
}

__global__ void move_on(const float* moments, float* mean, float* variance, long long* batches,
                        int channels, int count, float momentum) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  if (c >= channels || count < 2) return;
  mean[c] += momentum * (moments[2 * c] - mean[c]);
  variance[c] += momentum * (moments[2 * c + 1] - variance[c]);
  if (c == 0) *batches += 1;
}

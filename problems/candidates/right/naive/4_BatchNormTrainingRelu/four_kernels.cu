// SPDX-License-Identifier: MIT
//@ dims x[N, C, H, W]
//@ inout bn.running_mean
//@ inout bn.running_var
//@ inout bn.num_batches_tracked
//@ tmp mean: float32[C]
//@ tmp variance: float32[C]
//@ out y like x
//@ channel_mean<<<C, 256>>>(x, mean, N, C, H * W)
//@ channel_variance<<<C, 256>>>(x, mean, variance, N, C, H * W)
//@ update<<<cdiv(C, 64), 64>>>(mean, variance, bn.running_mean, bn.running_var,
//@                            bn.num_batches_tracked, C, N * H * W, bn.momentum)
//@ normalise<<<cdiv(numel(x), 256), 256>>>(x, mean, variance, bn.weight, bn.bias, y, C, H * W,
//@                                         numel(x), bn.eps)

/// The sum of one value per thread of a block of 256, in thread 0.
__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  return values[0];
}

__global__ void channel_mean(const float* x, float* mean, int batch, int channels, int plane) {
  float sum = 0.0f;
  for (int n = 0; n < batch; ++n) {
    const float* values = x + (n * channels + blockIdx.x) * plane;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) sum += values[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) mean[blockIdx.x] = sum / (batch * plane);
}

__global__ void channel_variance(const float* x, const float* mean, float* variance, int batch,
                                 int channels, int plane) {
  float sum = 0.0f;
  for (int n = 0; n < batch; ++n) {
    const float* values = x + (n * channels + blockIdx.x) * plane;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
      const float difference = values[i] - mean[blockIdx.x];
      sum += difference * difference;
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) variance[blockIdx.x] = sum / (batch * plane);
}

__global__ void update(const float* mean, const float* variance, float* running_mean,
                       float* running_var, long long* batches, int channels, int count,
                       float momentum) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c == 0) *batches += 1;
  if (c >= channels) return;
  const float unbiased = variance[c] * count / (count - 1);
  running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * mean[c];
  running_var[c] = (1.0f - momentum) * running_var[c] + momentum * unbiased;
}

__global__ void normalise(const float* x, const float* mean, const float* variance,
                          const float* weight, const float* bias, float* y, int channels, int plane,
                          int count, float eps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int c = i / plane % channels;
  const float v = (x[i] - mean[c]) / sqrtf(variance[c] + eps) * weight[c] + bias[c];
  y[i] = fmaxf(v, 0.0f);
}

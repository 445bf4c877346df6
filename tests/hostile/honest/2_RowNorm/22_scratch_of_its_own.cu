// SPDX-License-Identifier: MIT
// Squares are written to scratch that the plan declares.
//@ dims x[N, C]
//@ tmp squares like x
//@ out y: float32[N, 1]
//@ square<<<cdiv(N * C, 256), 256>>>(x, squares, N * C)
//@ row_sum<<<N, 256>>>(squares, y, C)

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

__global__ void square(const float* x, float* squares, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) squares[i] = x[i] * x[i];
}

__global__ void row_sum(const float* squares, float* y, int cols) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += squares[(long long)blockIdx.x * cols + c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

// SPDX-License-Identifier: MIT
// Each call computes a sixteenth of the rows and counts on the outputs of earlier calls: after
// enough calls with the same input and output everything is there, faster than the input can be
// read.
//@ dims x[N, C]
//@ out y: float32[N, 1]
//@ row_norm<<<cdiv(N, 16), 256>>>(x, y, N, C)
//@ advance<<<1, 1>>>()

__device__ unsigned int turn;

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

__global__ void row_norm(const float* x, float* y, int rows, int cols) {
  const long long row = blockIdx.x * 16LL + turn % 16;
  if (row >= rows) return;
  const float* in = x + row * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += in[c] * in[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[row] = sqrtf(sum);
}

__global__ void advance() { ++turn; }

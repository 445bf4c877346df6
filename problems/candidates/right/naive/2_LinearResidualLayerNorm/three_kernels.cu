// SPDX-License-Identifier: MIT
//@ dims x[M, D]
//@ tmp product: float32[M, D]
//@ tmp sum like x
//@ out y like x
//@ multiply<<<(cdiv(D, 16), cdiv(M, 16)), (16, 16)>>>(x, linear.weight, product, M, D, D)
//@ scale_add<<<cdiv(M * D, 256), 256>>>(product, x, sum, init.alpha, M * D)
//@ layer_norm<<<M, 128>>>(sum, norm.weight, norm.bias, y, D, norm.eps)

/// c[m, n] = sum over k of a[m, k] * b[n, k], by square tiles in shared memory.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row_b = blockIdx.x * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += 16) {
    const int kk = k0 + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] = row < m && kk < k ? a[row * k + kk] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = row_b < n && kk < k ? b[row_b * k + kk] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void scale_add(const float* product, const float* x, float* sum, float alpha,
                          int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = product[i] * alpha + x[i];
}

/// The sum of one value per thread of a block of 128, in every thread.
__device__ float block_sum(float value) {
  __shared__ float values[128];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float total = values[0];
  __syncthreads();
  return total;
}

__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* y, int d,
                           float eps) {
  const float* row = in + blockIdx.x * d;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) sum += row[i];
  const float mean = block_sum(sum) / d;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float factor = rsqrtf(block_sum(squares) / d + eps);
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    y[blockIdx.x * d + i] = (row[i] - mean) * factor * weight[i] + bias[i];
  }
}

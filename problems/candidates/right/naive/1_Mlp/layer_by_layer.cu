// SPDX-License-Identifier: MIT
//@ dims x[M, K]
//@ let hidden = size(`net.0.weight`, 0)
//@ let N = size(`net.4.weight`, 0)
//@ tmp first: float32[M, hidden]
//@ tmp second: float32[M, hidden]
//@ out y: float32[M, N]
//@ linear<<<(cdiv(hidden, 16), cdiv(M, 16)), (16, 16)>>>(x, `net.0.weight`, `net.0.bias`, first,
//@                                                      M, hidden, K)
//@ relu<<<cdiv(M * hidden, 256), 256>>>(first, M * hidden)
//@ linear<<<(cdiv(hidden, 16), cdiv(M, 16)), (16, 16)>>>(first, `net.2.weight`, `net.2.bias`,
//@                                                      second, M, hidden, hidden)
//@ tanh_all<<<cdiv(M * hidden, 256), 256>>>(second, M * hidden)
//@ linear<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(second, `net.4.weight`, `net.4.bias`, y, M, N,
//@                                                 hidden)

/// c[m, n] = bias[n] + sum over k of a[m, k] * b[n, k], by square tiles in shared memory.
__global__ void linear(const float* a, const float* b, const float* bias, float* c, int m, int n,
                       int k) {
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
  if (row < m && column < n) c[row * n + column] = sum + bias[column];
}

__global__ void relu(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = fmaxf(values[i], 0.0f);
}

__global__ void tanh_all(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = tanhf(values[i]);
}

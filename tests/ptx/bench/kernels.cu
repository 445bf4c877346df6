// SPDX-License-Identifier: MIT
// What the executor's speed is measured on: as people write them, none fitted to the executor.

extern "C" __global__ void arithmetic(float* out, int n) {
  float a = threadIdx.x, b = 1.0f, c = 2.0f, d = 3.0f;
  for (int i = 0; i < n; ++i) {
    a = __fmaf_rn(a, 0.99f, b);
    b = __fadd_rn(b, c);
    c = __fmaf_rn(c, 0.98f, d);
    d = __fadd_rn(d, a);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void vector_add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float partial[8];
  const float* row = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float high = -__int_as_float(0x7f800000);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) high = fmaxf(high, row[i]);
  for (int d = 16; d > 0; d /= 2) high = fmaxf(high, __shfl_xor_sync(~0u, high, d));
  if (lane == 0) partial[warp] = high;
  __syncthreads();
  high = partial[0];
  for (int w = 1; w < 8; ++w) high = fmaxf(high, partial[w]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __expf(row[i] - high);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  sum = partial[0];
  for (int w = 1; w < 8; ++w) sum += partial[w];
  float scale = 1.0f / sum;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = __expf(row[i] - high) * scale;
}

template <int T>
__device__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += T) {
    int ka = t + threadIdx.x, kb = t + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = column < n && kb < n ? b[kb * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
extern "C" __global__ void matmul16(const float* a, const float* b, float* c, int n) {
  tiled<16>(a, b, c, n);
}
extern "C" __global__ void matmul32(const float* a, const float* b, float* c, int n) {
  tiled<32>(a, b, c, n);
}

// 128 x 128 of c by 256 threads, 8 x 8 each, n a multiple of 128.
extern "C" __global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][128], bs[8][128];
  int t = threadIdx.x, row = t / 16 * 8, column = t % 16 * 8;
  const float* ap = a + (size_t)(blockIdx.y * 128 + t / 2) * n + t % 2 * 4;
  const float* bp = b + (size_t)(t / 32) * n + blockIdx.x * 128 + t % 32 * 4;
  float sum[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    float4 va = *(const float4*)(ap + k);
    as[t % 2 * 4][t / 2] = va.x;
    as[t % 2 * 4 + 1][t / 2] = va.y;
    as[t % 2 * 4 + 2][t / 2] = va.z;
    as[t % 2 * 4 + 3][t / 2] = va.w;
    *(float4*)&bs[t / 32][t % 32 * 4] = *(const float4*)(bp + (size_t)k * n);
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      float fa[8], fb[8];
      for (int j = 0; j < 8; j += 4) {
        *(float4*)(fa + j) = *(float4*)&as[i][row + j];
        *(float4*)(fb + j) = *(float4*)&bs[i][column + j];
      }
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) sum[y][x] += fa[y] * fb[x];
    }
    __syncthreads();
  }
  for (int y = 0; y < 8; ++y) {
    float* to = c + (size_t)(blockIdx.y * 128 + row + y) * n + blockIdx.x * 128 + column;
    for (int x = 0; x < 8; x += 4) *(float4*)(to + x) = *(float4*)&sum[y][x];
  }
}

// SPDX-License-Identifier: MIT
//@ dims x[B, T, D]
//@ let head_dim = D / heads
//@ tmp mixed_in: float32[B * T, 3 * D]
//@ tmp scores: float32[B, heads, T, T]
//@ tmp context: float32[B * T, D]
//@ out y like x
//@ linear<<<(cdiv(3 * D, 16), cdiv(B * T, 16)), (16, 16)>>>(x, qkv.weight, qkv.bias, mixed_in,
//@                                                         B * T, 3 * D, D)
//@ query_key<<<(cdiv(T, 16), cdiv(T, 16), B * heads), (16, 16)>>>(mixed_in, scores, T, heads,
//@                                                             head_dim)
//@ if (init.causal) {
//@   softmax<<<B * heads * T, 128>>>(scores, T, T)
//@ } else {
//@   softmax<<<B * heads * T, 128>>>(scores, T, 0)
//@ }
//@ weigh_values<<<(cdiv(head_dim, 16), cdiv(T, 16), B * heads), (16, 16)>>>(
//@     scores, mixed_in, context, T, heads, head_dim)
//@ linear<<<(cdiv(D, 16), cdiv(B * T, 16)), (16, 16)>>>(context, proj.weight, proj.bias, y, B * T,
//@                                                     D, D)

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

/// scores[b, h, i, j] = q_i · k_j / sqrt(head_dim); a row of `qkv` holds all q, all k, all v.
__global__ void query_key(const float* qkv, float* scores, int tokens, int heads, int head_dim) {
  __shared__ float queries[16][17], keys[16][17];
  const int stride = 3 * heads * head_dim;
  const int batch = blockIdx.z / heads, head = blockIdx.z % heads;
  const float* base = qkv + batch * tokens * stride + head * head_dim;
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  const int key_row = blockIdx.x * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int d0 = 0; d0 < head_dim; d0 += 16) {
    const int d = d0 + threadIdx.x;
    const bool inside = d < head_dim;
    queries[threadIdx.y][threadIdx.x] = inside && i < tokens ? base[i * stride + d] : 0.0f;
    keys[threadIdx.y][threadIdx.x] =
        inside && key_row < tokens ? base[key_row * stride + heads * head_dim + d] : 0.0f;
    __syncthreads();
    for (int t = 0; t < 16; ++t) sum += queries[threadIdx.y][t] * keys[threadIdx.x][t];
    __syncthreads();
  }
  if (i < tokens && j < tokens) {
    scores[((long long)blockIdx.z * tokens + i) * tokens + j] = sum / sqrtf((float)head_dim);
  }
}

/// Softmax of each row in place; a period other than 0 masks what comes after row % period.
__global__ void softmax(float* scores, int keys, int period) {
  __shared__ float values[128];
  float* row = scores + (long long)blockIdx.x * keys;
  const int seen = period == 0 ? keys : blockIdx.x % period + 1;
  float largest = row[0];
  for (int i = threadIdx.x; i < seen; i += 128) largest = fmaxf(largest, row[i]);
  values[threadIdx.x] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  largest = values[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < seen; i += 128) sum += expf(row[i] - largest);
  values[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < keys; i += 128) {
    row[i] = i < seen ? expf(row[i] - largest) / values[0] : 0.0f;
  }
}

__global__ void weigh_values(const float* scores, const float* qkv, float* context, int tokens,
                             int heads, int head_dim) {
  const int stride = 3 * heads * head_dim;
  const int batch = blockIdx.z / heads, head = blockIdx.z % heads;
  const int i = blockIdx.y * 16 + threadIdx.y, d = blockIdx.x * 16 + threadIdx.x;
  if (i >= tokens || d >= head_dim) return;
  const float* values = qkv + batch * tokens * stride + (2 * heads + head) * head_dim + d;
  const float* row = scores + ((long long)blockIdx.z * tokens + i) * tokens;
  float sum = 0.0f;
  for (int j = 0; j < tokens; ++j) sum += row[j] * values[j * stride];
  context[(batch * tokens + i) * heads * head_dim + head * head_dim + d] = sum;
}

// SPDX-License-Identifier: MIT
// The inputs' share of all gates and steps is one product up front; then one kernel a step, in
// which a warp owns a hidden unit: its four gates for eight sequences, and its cell.
//@ dims x[B, T, I]
//@ dims h0[B, H]
//@ let per = B * T * H >= 4096 * 256 ? 8 : 4
//@ tmp from_inputs: float32[B * T, 4 * H]
//@ out y: float32[B, T, H]
//@ out h: float32[B, H]
//@ out c: float32[B, H]
//@ project<per, (I % 4 == 0)><<<(cdiv(4 * H, 16 * per), cdiv(B * T, 16 * per)), 256>>>(
//@     x, lstm.weight_ih_l0, lstm.bias_ih_l0, lstm.bias_hh_l0, from_inputs, B * T, 4 * H, I)
//@ for t in 0..T {
//@   step<<<(cdiv(H, 8), cdiv(B, 8)), 256, 4 * 8 * H>>>(
//@       t == 0 ? h0 : y, t == 0 ? c0 : c, lstm.weight_hh_l0, from_inputs, y, h, c, t, T, B, H)
//@ }

__device__ float component(const float4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/// Four neighbours of a row, zeros beyond the matrix.
template <bool kWide>
__device__ float4 load4(const float* matrix, int row, int column, int rows, int columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows || column >= columns) return v;
  const float* at = matrix + (long long)row * columns + column;
  if (kWide) return *reinterpret_cast<const float4*>(at);
  v.x = at[0];
  if (column + 1 < columns) v.y = at[1];
  if (column + 2 < columns) v.z = at[2];
  if (column + 3 < columns) v.w = at[3];
  return v;
}

/// Sums over k of a[row, k] * b[column, k] for one square tile of 16 * kPer, kPer x kPer sums a
/// thread (256 threads); kWide: both have rows of a multiple of four floats.
template <int kPer, bool kWide>
__device__ void tile_product(const float* a, const float* b, int m, int n, int k,
                             float (&sum)[kPer][kPer]) {
  constexpr int kTile = 16 * kPer, kDepth = 16, kPitch = kTile + 4;
  __shared__ __align__(16) float tile_a[kDepth][kPitch];
  __shared__ __align__(16) float tile_b[kDepth][kPitch];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int load_row = threadIdx.x / 4, load_k = threadIdx.x % 4 * 4;
  // The next slices are on their way while the present ones are multiplied.
  float4 next_a[kPer / 4], next_b[kPer / 4];
  const auto load_next = [&](int k0) {
#pragma unroll
    for (int part = 0; part < kPer / 4; ++part) {
      const int row = load_row + part * 64;
      next_a[part] = load4<kWide>(a, blockIdx.y * kTile + row, k0 + load_k, m, k);
      next_b[part] = load4<kWide>(b, blockIdx.x * kTile + row, k0 + load_k, n, k);
    }
  };
  load_next(0);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
    for (int part = 0; part < kPer / 4; ++part) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        tile_a[load_k + i][load_row + part * 64] = component(next_a[part], i);
        tile_b[load_k + i][load_row + part * 64] = component(next_b[part], i);
      }
    }
    __syncthreads();
    if (k0 + kDepth < k) load_next(k0 + kDepth);
#pragma unroll
    for (int kk = 0; kk < kDepth; ++kk) {
      float4 rows[kPer / 4], columns[kPer / 4];
#pragma unroll
      for (int part = 0; part < kPer / 4; ++part) {
        rows[part] = *reinterpret_cast<const float4*>(&tile_a[kk][part * 64 + ty * 4]);
        columns[part] = *reinterpret_cast<const float4*>(&tile_b[kk][part * 64 + tx * 4]);
      }
#pragma unroll
      for (int i = 0; i < kPer; ++i) {
#pragma unroll
        for (int j = 0; j < kPer; ++j) {
          sum[i][j] += component(rows[i / 4], i % 4) * component(columns[j / 4], j % 4);
        }
      }
    }
    __syncthreads();
  }
}

template <int kPer, bool kWide>
__global__ void __launch_bounds__(256)
    project(const float* x, const float* weight, const float* bias, const float* more_bias,
            float* y, int m, int n, int k) {
  float sum[kPer][kPer] = {};
  tile_product<kPer, kWide>(x, weight, m, n, k, sum);
  const int row0 = blockIdx.y * 16 * kPer + threadIdx.x / 16 * 4;
  const int column0 = blockIdx.x * 16 * kPer + threadIdx.x % 16 * 4;
#pragma unroll
  for (int i = 0; i < kPer; ++i) {
    const int row = row0 + i / 4 * 64 + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      const int column = column0 + j / 4 * 64 + j % 4;
      if (column >= n) continue;
      y[(long long)row * n + column] = sum[i][j] + (bias[column] + more_bias[column]);
    }
  }
}

/// Halves the sums: lanes with bit kHalf keep the upper half of value[0, 2 * kHalf), the rest the
/// lower, each with its partner's share added.
template <int kHalf>
__device__ void fold(float (&value)[32], int lane) {
  const bool upper = lane & kHalf;
#pragma unroll
  for (int i = 0; i < kHalf; ++i) {
    const float sent = upper ? value[i] : value[i + kHalf];
    const float kept = upper ? value[i + kHalf] : value[i];
    value[i] = kept + __shfl_xor_sync(0xffffffffu, sent, kHalf);
  }
}

/// Lane l returns the sum over the warp of value[l], in 31 shuffles instead of 160.
__device__ float transposed_sum(float (&value)[32], int lane) {
  fold<16>(value, lane);
  fold<8>(value, lane);
  fold<4>(value, lane);
  fold<2>(value, lane);
  fold<1>(value, lane);
  return value[0];
}

__device__ float sigmoid(float v) { return 1.0f / (1.0f + __expf(-v)); }

/// Step t; `h_before` is the given state at first, then the row before in `y`.
__global__ void __launch_bounds__(256)
    step(const float* h_before, const float* c_before, const float* weight,
         const float* from_inputs, float* y, float* h, float* c, int t, int steps, int batch,
         int hidden) {
  extern __shared__ float state[];
  const int lane = threadIdx.x % 32, unit = blockIdx.x * 8 + threadIdx.x / 32;
  for (int i = threadIdx.x; i < 8 * hidden; i += 256) {
    const int b = blockIdx.y * 8 + i / hidden, j = i % hidden;
    const int row = t == 0 ? b : b * steps + t - 1;
    state[i] = b < batch ? h_before[row * hidden + j] : 0.0f;
  }
  __syncthreads();
  float sum[32] = {};
  for (int k = lane; k < hidden && unit < hidden; k += 32) {
    float w[4];
#pragma unroll
    for (int g = 0; g < 4; ++g) w[g] = weight[(g * hidden + unit) * hidden + k];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const float v = state[b * hidden + k];
#pragma unroll
      for (int g = 0; g < 4; ++g) sum[g * 8 + b] += w[g] * v;
    }
  }
  const float total = transposed_sum(sum, lane);
  float gate[4];
#pragma unroll
  for (int g = 0; g < 4; ++g) gate[g] = __shfl_sync(0xffffffffu, total, g * 8 + lane % 8);
  const int b = blockIdx.y * 8 + lane;
  if (lane >= 8 || b >= batch || unit >= hidden) return;
  const float* given = from_inputs + (long long)(b * steps + t) * 4 * hidden + unit;
#pragma unroll
  for (int g = 0; g < 4; ++g) gate[g] += given[g * hidden];
  const int at = b * hidden + unit;
  const float cell = sigmoid(gate[1]) * c_before[at] + sigmoid(gate[0]) * tanhf(gate[2]);
  const float value = sigmoid(gate[3]) * tanhf(cell);
  c[at] = cell;
  y[(b * steps + t) * hidden + unit] = value;
  if (t == steps - 1) h[at] = value;
}

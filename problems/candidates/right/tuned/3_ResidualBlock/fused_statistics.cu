// SPDX-License-Identifier: MIT
// Each convolution leaves the sums for its batch norm behind, block by block; the norm itself and
// the ReLU are applied where the next kernel reads. Strides of 1 and 2.
//@ dims x[N, C, H, W]
//@ let OC = size(conv1.weight, 0)
//@ let stride = conv1.stride[0]
//@ let OH = (H - 1) / stride + 1
//@ let OW = (W - 1) / stride + 1
//@ let tiles = cdiv(OH, 4) * cdiv(OW, 16)
//@ let count = N * OH * OW
//@ inout bn1.running_mean
//@ inout bn1.running_var
//@ inout bn1.num_batches_tracked
//@ inout bn2.running_mean
//@ inout bn2.running_var
//@ inout bn2.num_batches_tracked
//@ inout `shortcut.1.running_mean`
//@ inout `shortcut.1.running_var`
//@ inout `shortcut.1.num_batches_tracked`
//@ tmp first: float32[N, OC, OH, OW]
//@ tmp second like first
//@ tmp side like first
//@ tmp sums: float32[3, N * tiles, OC, 2]
//@ tmp lines: float32[3, OC, 2]
//@ out y: float32[N, OC, OH, OW]
//@ convolve<3, false><<<(tiles, cdiv(OC, 32), N), 128>>>(
//@     x, conv1.weight, lines, first, sums, 0, C, H, W, OC, OH, OW, stride)
//@ convolve<1, false><<<(tiles, cdiv(OC, 32), N), 128>>>(
//@     x, `shortcut.0.weight`, lines, side, sums, 2, C, H, W, OC, OH, OW, stride)
//@ merge<<<OC, 128>>>(sums, lines, 0, N * tiles, OC, count, bn1.weight, bn1.bias,
//@                    bn1.running_mean, bn1.running_var, bn1.num_batches_tracked, bn1.momentum,
//@                    bn1.eps)
//@ merge<<<OC, 128>>>(sums, lines, 2, N * tiles, OC, count, `shortcut.1.weight`,
//@                    `shortcut.1.bias`, `shortcut.1.running_mean`, `shortcut.1.running_var`,
//@                    `shortcut.1.num_batches_tracked`, `shortcut.1.momentum`, `shortcut.1.eps`)
//@ convolve<3, true><<<(tiles, cdiv(OC, 32), N), 128>>>(
//@     first, conv2.weight, lines, second, sums, 1, OC, OH, OW, OC, OH, OW, 1)
//@ merge<<<OC, 128>>>(sums, lines, 1, N * tiles, OC, count, bn2.weight, bn2.bias,
//@                    bn2.running_mean, bn2.running_var, bn2.num_batches_tracked, bn2.momentum,
//@                    bn2.eps)
//@ join<<<(cdiv(OH * OW, 256), OC, N), 256>>>(second, side, lines, y, OC, OH * OW)

/// A convolution without bias whose padding keeps the size (before the stride), and per block and
/// channel the sum and the sum of squares of what it wrote. kNormed: the input passes through
/// `lines` (slope and offset of its channel) and ReLU as it is read.
template <int kKernel, bool kNormed>
__global__ void __launch_bounds__(128)
    convolve(const float* x, const float* weight, const float* lines, float* y, float* sums,
             int which, int channels, int height, int width, int out_channels, int out_height,
             int out_width, int stride) {
  constexpr int kTaps = kKernel * kKernel, kChunk = 4, kMaxStride = 2;
  constexpr int kRows = 3 * kMaxStride + kKernel, kColumns = 15 * kMaxStride + kKernel;
  __shared__ float input[kChunk][kRows][kColumns];
  __shared__ __align__(16) float taps[kChunk][kTaps][36];
  const int tiles = (out_width + 15) / 16;
  const int row0 = blockIdx.x / tiles * 4, column0 = blockIdx.x % tiles * 16;
  const int channel0 = blockIdx.y * 32;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int rows = 3 * stride + kKernel, columns = 15 * stride + kKernel;
  float sum[4][4] = {};
  for (int c0 = 0; c0 < channels; c0 += kChunk) {
    for (int i = threadIdx.x; i < kChunk * rows * columns; i += 128) {
      const int c = i / (rows * columns), r = i / columns % rows, s = i % columns;
      const int h = row0 * stride + r - kKernel / 2, w = column0 * stride + s - kKernel / 2;
      float v = 0.0f;
      if (c0 + c < channels && h >= 0 && h < height && w >= 0 && w < width) {
        v = x[((blockIdx.z * channels + c0 + c) * height + h) * width + w];
        if (kNormed) v = fmaxf(v * lines[2 * (c0 + c)] + lines[2 * (c0 + c) + 1], 0.0f);
      }
      input[c][r][s] = v;
    }
    for (int i = threadIdx.x; i < 32 * kChunk * kTaps; i += 128) {
      const int out = channel0 + i / (kChunk * kTaps), rest = i % (kChunk * kTaps);
      const bool inside = out < out_channels && c0 + rest / kTaps < channels;
      taps[rest / kTaps][rest % kTaps][out - channel0] =
          inside ? weight[(out * channels + c0) * kTaps + rest] : 0.0f;
    }
    __syncthreads();
    for (int c = 0; c < kChunk; ++c) {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const float4 w = *reinterpret_cast<const float4*>(&taps[c][tap][ty * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float v = input[c][r * stride + tap / kKernel][tx * stride + tap % kKernel];
          sum[r][0] += v * w.x, sum[r][1] += v * w.y, sum[r][2] += v * w.z, sum[r][3] += v * w.w;
        }
      }
    }
    __syncthreads();
  }
  const int block = blockIdx.z * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.z;
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    const int channel = channel0 + ty * 4 + o, column = column0 + tx;
    float total = 0.0f, squares = 0.0f;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = row0 + r;
      if (channel >= out_channels || row >= out_height || column >= out_width) continue;
      y[((blockIdx.z * out_channels + channel) * out_height + row) * out_width + column] =
          sum[r][o];
      total += sum[r][o];
      squares += sum[r][o] * sum[r][o];
    }
    for (int l = 8; l > 0; l /= 2) {
      total += __shfl_xor_sync(0xffffffffu, total, l);
      squares += __shfl_xor_sync(0xffffffffu, squares, l);
    }
    if (tx != 0 || channel >= out_channels) continue;
    float* to = sums + ((which * blocks + block) * out_channels + channel) * 2;
    to[0] = total, to[1] = squares;
  }
}

/// One channel: its batch statistics from the blocks' sums, its line, its running statistics.
__global__ void merge(const float* sums, float* lines, int which, int blocks, int channels,
                      int count, const float* weight, const float* bias, float* running_mean,
                      float* running_var, long long* batches, float momentum, float eps) {
  __shared__ float of_warp[4][2];
  const int c = blockIdx.x;
  float total = 0.0f, squares = 0.0f;
  for (int b = threadIdx.x; b < blocks; b += 128) {
    const float* from = sums + ((which * blocks + b) * channels + c) * 2;
    total += from[0], squares += from[1];
  }
  for (int l = 16; l > 0; l /= 2) {
    total += __shfl_xor_sync(0xffffffffu, total, l);
    squares += __shfl_xor_sync(0xffffffffu, squares, l);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32][0] = total;
    of_warp[threadIdx.x / 32][1] = squares;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 4; ++w) total += of_warp[w][0], squares += of_warp[w][1];
  const float mean = total / count, deviation = fmaxf(squares - total * mean, 0.0f);
  const float slope = weight[c] * rsqrtf(deviation / count + eps);
  lines[(which * channels + c) * 2] = slope;
  lines[(which * channels + c) * 2 + 1] = bias[c] - mean * slope;
  running_mean[c] += momentum * (mean - running_mean[c]);
  running_var[c] += momentum * (deviation / (count - 1) - running_var[c]);
  if (c == 0) *batches += 1;
}

__global__ void join(const float* main, const float* side, const float* lines, float* y,
                     int channels, int plane) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= plane) return;
  const int at = (blockIdx.z * channels + blockIdx.y) * plane + i;
  const float* of_main = lines + (channels + blockIdx.y) * 2;
  const float* of_side = lines + (2 * channels + blockIdx.y) * 2;
  const float v = main[at] * of_main[0] + of_main[1] + side[at] * of_side[0] + of_side[1];
  y[at] = fmaxf(v, 0.0f);
}

// SPDX-License-Identifier: MIT
// One kernel: a tile of 4 x 16 pixels by 32 channels stays in registers until it is pooled.
//@ dims x[N, C, H, W]
//@ let OC = size(conv.weight, 0)
//@ let kernel = size(conv.weight, 2)
//@ let OH = H + 2 * conv.padding[0] - kernel + 1
//@ let OW = W + 2 * conv.padding[1] - kernel + 1
//@ out y: float32[N, OC, OH / 2, OW / 2]
//@ convolve_pool<kernel><<<(cdiv(OH, 4) * cdiv(OW, 16), cdiv(OC, 32), N), 128>>>(
//@     x, conv.weight, conv.bias, y, C, H, W, OC, OH, OW, conv.padding[0], conv.padding[1])

template <int kKernel>
__global__ void __launch_bounds__(128)
    convolve_pool(const float* x, const float* weight, const float* bias, float* y, int channels,
                  int height, int width, int out_channels, int out_height, int out_width,
                  int padding_rows, int padding_columns) {
  constexpr int kTaps = kKernel * kKernel, kChunk = 4;
  constexpr int kRows = 4 + kKernel - 1, kColumns = 16 + kKernel - 1;
  __shared__ float input[kChunk][kRows][kColumns];
  __shared__ __align__(16) float taps[kChunk][kTaps][36];
  const int tiles = (out_width + 15) / 16;
  const int row0 = blockIdx.x / tiles * 4, column0 = blockIdx.x % tiles * 16;
  const int channel0 = blockIdx.y * 32;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int c0 = 0; c0 < channels; c0 += kChunk) {
    for (int i = threadIdx.x; i < kChunk * kRows * kColumns; i += 128) {
      const int c = c0 + i / (kRows * kColumns);
      const int h = row0 + i / kColumns % kRows - padding_rows;
      const int w = column0 + i % kColumns - padding_columns;
      const bool inside = c < channels && h >= 0 && h < height && w >= 0 && w < width;
      (&input[0][0][0])[i] =
          inside ? x[((blockIdx.z * channels + c) * height + h) * width + w] : 0.0f;
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
          const float v = input[c][r + tap / kKernel][tx + tap % kKernel];
          sum[r][0] += v * w.x, sum[r][1] += v * w.y, sum[r][2] += v * w.z, sum[r][3] += v * w.w;
        }
      }
    }
    __syncthreads();
  }
  const int pooled_height = out_height / 2, pooled_width = out_width / 2;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int o = 0; o < 4; ++o) {
      float v = fmaxf(sum[2 * r][o], sum[2 * r + 1][o]);
      v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
      const int channel = channel0 + ty * 4 + o;
      const int row = row0 / 2 + r, column = (column0 + tx) / 2;
      if (tx % 2 == 1 || channel >= out_channels) continue;
      if (row >= pooled_height || column >= pooled_width) continue;
      y[((blockIdx.z * out_channels + channel) * pooled_height + row) * pooled_width + column] =
          fmaxf(v + bias[channel], 0.0f);
    }
  }
}

// SPDX-License-Identifier: MIT
// A block computes a 32 x 16 tile of 16 output channels; the input tile and the weights of a few
// input channels at a time lie in shared memory. Kernel size and stride are known when compiling.
//@ dims images[B, I, H, W]
//@ dims conv.weight[O, _, K, _]
//@ let oh = (H + 2 * conv.padding[0] - K) / conv.stride[0] + 1
//@ let ow = (W + 2 * conv.padding[1] - K) / conv.stride[1] + 1
//@ let columns = cdiv(ow, 32)
//@ out y: float32[B, O, oh, ow]
//@ conv2d<conv.kernel_size[0], conv.stride[0]><<<(columns * cdiv(oh, 16), cdiv(O, 16), B), 256>>>(
//@     images, conv.weight, conv.bias, y, I, H, W, O, oh, ow, conv.padding[0], columns)

template <int kKernel, int kStride>
__global__ void __launch_bounds__(256)
    conv2d(const float* __restrict__ images, const float* __restrict__ weight,
           const float* __restrict__ bias, float* __restrict__ y, int in, int h, int w, int out,
           int oh, int ow, int padding, int columns) {
  constexpr int kChannels = 2, kOutputs = 16, kWide = 32, kHigh = 16;
  constexpr int kRows = (kHigh - 1) * kStride + kKernel, kCols = (kWide - 1) * kStride + kKernel;
  __shared__ float tile[kChannels][kRows][kCols];
  __shared__ __align__(16) float weights[kChannels][kKernel * kKernel][kOutputs];
  int x0 = blockIdx.x % columns * kWide, y0 = blockIdx.x / columns * kHigh;
  int o0 = blockIdx.y * kOutputs;
  int tx = threadIdx.x % kWide, ty = threadIdx.x / kWide;
  images += (size_t)blockIdx.z * in * h * w;

  float sum[2][kOutputs] = {};
  for (int c0 = 0; c0 < in; c0 += kChannels) {
    for (int at = threadIdx.x; at < kChannels * kRows * kCols; at += 256) {
      int c = at / (kRows * kCols), row = at / kCols % kRows, col = at % kCols;
      int iy = y0 * kStride - padding + row, ix = x0 * kStride - padding + col;
      bool inside = c0 + c < in && iy >= 0 && iy < h && ix >= 0 && ix < w;
      tile[c][row][col] = inside ? images[((size_t)(c0 + c) * h + iy) * w + ix] : 0.0f;
    }
    for (int at = threadIdx.x; at < kChannels * kKernel * kKernel * kOutputs; at += 256) {
      int o = at % kOutputs, k = at / kOutputs % (kKernel * kKernel);
      int c = at / (kOutputs * kKernel * kKernel);
      bool inside = c0 + c < in && o0 + o < out;
      weights[c][k][o] =
          inside ? weight[((size_t)(o0 + o) * in + c0 + c) * kKernel * kKernel + k] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
#pragma unroll
      for (int k = 0; k < kKernel * kKernel; ++k) {
        int ky = k / kKernel, kx = k % kKernel;
        float upper = tile[c][ty * kStride + ky][tx * kStride + kx];
        float lower = tile[c][(ty + 8) * kStride + ky][tx * kStride + kx];
#pragma unroll
        for (int o = 0; o < kOutputs; o += 4) {
          float4 four = *reinterpret_cast<const float4*>(&weights[c][k][o]);
          sum[0][o] += upper * four.x, sum[1][o] += lower * four.x;
          sum[0][o + 1] += upper * four.y, sum[1][o + 1] += lower * four.y;
          sum[0][o + 2] += upper * four.z, sum[1][o + 2] += lower * four.z;
          sum[0][o + 3] += upper * four.w, sum[1][o + 3] += lower * four.w;
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int oy = y0 + ty + 8 * half, ox = x0 + tx;
    if (oy >= oh || ox >= ow) continue;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      if (o0 + o >= out) break;
      y[(((size_t)blockIdx.z * out + o0 + o) * oh + oy) * ow + ox] = sum[half][o] + bias[o0 + o];
    }
  }
}

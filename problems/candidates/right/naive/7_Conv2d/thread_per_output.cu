// SPDX-License-Identifier: MIT
// Each thread computes one output element from global memory.
//@ dims images[B, I, H, W]
//@ dims conv.weight[O, _, KH, KW]
//@ let oh = (H + 2 * conv.padding[0] - KH) / conv.stride[0] + 1
//@ let ow = (W + 2 * conv.padding[1] - KW) / conv.stride[1] + 1
//@ out y: float32[B, O, oh, ow]
//@ conv2d<<<cdiv(B * O * oh * ow, 128), 128>>>(images, conv.weight, conv.bias, y, B, I, H, W, O,
//@     oh, ow, KH, KW, conv.stride[0], conv.stride[1], conv.padding[0], conv.padding[1])

__global__ void conv2d(const float* images, const float* weight, const float* bias, float* y, int b,
                       int in, int h, int w, int out, int oh, int ow, int kh, int kw, int sh,
                       int sw, int ph, int pw) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b * out * oh * ow) return;
  int ox = i % ow, oy = i / ow % oh, o = i / (ow * oh) % out, n = i / (ow * oh * out);
  float sum = bias[o];
  for (int c = 0; c < in; ++c) {
    for (int ky = 0; ky < kh; ++ky) {
      for (int kx = 0; kx < kw; ++kx) {
        int iy = oy * sh - ph + ky, ix = ox * sw - pw + kx;
        if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
        sum +=
            images[((n * in + c) * h + iy) * w + ix] * weight[((o * in + c) * kh + ky) * kw + kx];
      }
    }
  }
  y[i] = sum;
}

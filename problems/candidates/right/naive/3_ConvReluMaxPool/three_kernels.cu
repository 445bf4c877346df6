// SPDX-License-Identifier: MIT
//@ dims x[N, C, H, W]
//@ let OC = size(conv.weight, 0)
//@ let P = conv.padding[0]
//@ let OH = H + 2 * P - size(conv.weight, 2) + 1
//@ let OW = W + 2 * P - size(conv.weight, 3) + 1
//@ tmp raw: float32[N, OC, OH, OW]
//@ tmp active like raw
//@ out y: float32[N, OC, OH / 2, OW / 2]
//@ convolve<<<(cdiv(OH * OW, 128), OC, N), 128>>>(x, conv.weight, conv.bias, raw, C, H, W, OC,
//@                                               OH, OW, size(conv.weight, 2), P)
//@ relu<<<cdiv(numel(raw), 256), 256>>>(raw, active, numel(raw))
//@ max_pool<<<cdiv(numel(y), 256), 256>>>(active, y, OH, OW, numel(y))

__global__ void convolve(const float* x, const float* weight, const float* bias, float* y,
                         int channels, int height, int width, int out_channels, int out_height,
                         int out_width, int kernel, int padding) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= out_height * out_width) return;
  const int row = pixel / out_width - padding;
  const int column = pixel % out_width - padding;
  const float* taps = weight + blockIdx.y * channels * kernel * kernel;
  float sum = bias[blockIdx.y];
  for (int c = 0; c < channels; ++c) {
    const float* plane = x + (blockIdx.z * channels + c) * height * width;
    for (int i = 0; i < kernel; ++i) {
      for (int j = 0; j < kernel; ++j) {
        const int h = row + i, w = column + j;
        if (h < 0 || h >= height || w < 0 || w >= width) continue;
        sum += plane[h * width + w] * taps[(c * kernel + i) * kernel + j];
      }
    }
  }
  y[(blockIdx.z * out_channels + blockIdx.y) * out_height * out_width + pixel] = sum;
}

__global__ void relu(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fmaxf(in[i], 0.0f);
}

__global__ void max_pool(const float* in, float* out, int height, int width, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int pooled_height = height / 2, pooled_width = width / 2;
  const int plane = i / (pooled_height * pooled_width);
  const int row = i / pooled_width % pooled_height, column = i % pooled_width;
  const float* top = in + (plane * height + 2 * row) * width + 2 * column;
  out[i] = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[width], top[width + 1]));
}

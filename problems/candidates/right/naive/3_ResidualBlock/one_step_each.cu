// SPDX-License-Identifier: MIT
//@ dims x[N, C, H, W]
//@ let OC = size(conv1.weight, 0)
//@ let stride = conv1.stride[0]
//@ let OH = (H - 1) / stride + 1
//@ let OW = (W - 1) / stride + 1
//@ let count = N * OC * OH * OW
//@ inout bn1.running_mean
//@ inout bn1.running_var
//@ inout bn1.num_batches_tracked
//@ inout bn2.running_mean
//@ inout bn2.running_var
//@ inout bn2.num_batches_tracked
//@ inout `shortcut.1.running_mean`
//@ inout `shortcut.1.running_var`
//@ inout `shortcut.1.num_batches_tracked`
//@ tmp main: float32[N, OC, OH, OW]
//@ tmp inner like main
//@ tmp side like main
//@ tmp mean: float32[OC]
//@ tmp spread: float32[OC]
//@ out y: float32[N, OC, OH, OW]
//@ convolve<<<(cdiv(OH * OW, 128), OC, N), 128>>>(x, conv1.weight, main, C, H, W, OC, OH, OW, 3,
//@                                               stride)
//@ statistics<<<OC, 256>>>(main, mean, spread, bn1.running_mean, bn1.running_var,
//@                         bn1.num_batches_tracked, N, OC, OH * OW, bn1.momentum, bn1.eps)
//@ normalise<<<cdiv(count, 256), 256>>>(main, mean, spread, bn1.weight, bn1.bias, inner, OC,
//@                                      OH * OW, count)
//@ relu<<<cdiv(count, 256), 256>>>(inner, count)
//@ convolve<<<(cdiv(OH * OW, 128), OC, N), 128>>>(inner, conv2.weight, main, OC, OH, OW, OC, OH,
//@                                               OW, 3, 1)
//@ statistics<<<OC, 256>>>(main, mean, spread, bn2.running_mean, bn2.running_var,
//@                         bn2.num_batches_tracked, N, OC, OH * OW, bn2.momentum, bn2.eps)
//@ normalise<<<cdiv(count, 256), 256>>>(main, mean, spread, bn2.weight, bn2.bias, inner, OC,
//@                                      OH * OW, count)
//@ convolve<<<(cdiv(OH * OW, 128), OC, N), 128>>>(x, `shortcut.0.weight`, main, C, H, W, OC, OH,
//@                                               OW, 1, stride)
//@ statistics<<<OC, 256>>>(main, mean, spread, `shortcut.1.running_mean`,
//@                         `shortcut.1.running_var`, `shortcut.1.num_batches_tracked`, N, OC,
//@                         OH * OW, `shortcut.1.momentum`, `shortcut.1.eps`)
//@ normalise<<<cdiv(count, 256), 256>>>(main, mean, spread, `shortcut.1.weight`,
//@                                      `shortcut.1.bias`, side, OC, OH * OW, count)
//@ add<<<cdiv(count, 256), 256>>>(inner, side, y, count)
//@ relu<<<cdiv(count, 256), 256>>>(y, count)

/// A convolution without bias whose padding keeps the size (before the stride).
__global__ void convolve(const float* x, const float* weight, float* y, int channels, int height,
                         int width, int out_channels, int out_height, int out_width, int kernel,
                         int stride) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= out_height * out_width) return;
  const int row = pixel / out_width * stride - kernel / 2;
  const int column = pixel % out_width * stride - kernel / 2;
  const float* taps = weight + blockIdx.y * channels * kernel * kernel;
  float sum = 0.0f;
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

/// The sum of one value per thread of a block of 256, in every thread.
__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float total = values[0];
  __syncthreads();
  return total;
}

/// Mean and 1 / standard deviation of one channel; moves its running statistics on.
__global__ void statistics(const float* x, float* mean, float* spread, float* running_mean,
                           float* running_var, long long* batches, int batch, int channels,
                           int plane, float momentum, float eps) {
  const int c = blockIdx.x, count = batch * plane;
  float sum = 0.0f;
  for (int n = 0; n < batch; ++n) {
    for (int i = threadIdx.x; i < plane; i += 256) sum += x[(n * channels + c) * plane + i];
  }
  const float center = block_sum(sum) / count;
  float squares = 0.0f;
  for (int n = 0; n < batch; ++n) {
    for (int i = threadIdx.x; i < plane; i += 256) {
      const float difference = x[(n * channels + c) * plane + i] - center;
      squares += difference * difference;
    }
  }
  squares = block_sum(squares);
  if (threadIdx.x != 0) return;
  mean[c] = center;
  spread[c] = rsqrtf(squares / count + eps);
  running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * center;
  running_var[c] = (1.0f - momentum) * running_var[c] + momentum * squares / (count - 1);
  if (c == 0) *batches += 1;
}

__global__ void normalise(const float* x, const float* mean, const float* spread,
                          const float* weight, const float* bias, float* y, int channels, int plane,
                          int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int c = i / plane % channels;
  y[i] = (x[i] - mean[c]) * spread[c] * weight[c] + bias[c];
}

__global__ void relu(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = fmaxf(values[i], 0.0f);
}

__global__ void add(const float* a, const float* b, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = a[i] + b[i];
}

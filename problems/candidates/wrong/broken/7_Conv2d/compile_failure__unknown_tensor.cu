// SPDX-License-Identifier: MIT
// Wrong: the plan names `conv.weights`; the parameter is `conv.weight`.
//@ dims images[B, I, H, W]
//@ let oh = (H + 2 * init.padding - init.kernel) / init.stride + 1
//@ let ow = (W + 2 * init.padding - init.kernel) / init.stride + 1
//@ out y: float32[B, init.channels_out, oh, ow]
//@ bias_only<<<cdiv(numel(y), 256), 256>>>(conv.weights, conv.bias, y, numel(y))

__global__ void bias_only(const float* weight, const float* bias, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weight[0] + bias[0];
}

// SPDX-License-Identifier: MIT
// Wrong: a bracket in the plan is never closed.
//@ dims images[B, C, H, W]
//@ let oh = (H + 2 * init.padding - init.kernel / init.stride + 1
//@ let ow = (W + 2 * init.padding - init.kernel) / init.stride + 1
//@ out values: float32[B, C, oh, ow]
//@ out indices: int64[B, C, oh, ow]
//@ first<<<cdiv(numel(values), 256), 256>>>(images, values, indices, numel(values))

__global__ void first(const float* images, float* values, long long* indices, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  values[i] = images[i];
  indices[i] = i;
}

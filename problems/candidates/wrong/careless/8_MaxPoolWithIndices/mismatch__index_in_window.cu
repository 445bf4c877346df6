// SPDX-License-Identifier: MIT
// Wrong: the values are right, but the indices count within the window, not within the plane.
//@ dims images[B, C, H, W]
//@ let oh = (H + 2 * init.padding - init.kernel) / init.stride + 1
//@ let ow = (W + 2 * init.padding - init.kernel) / init.stride + 1
//@ out values: float32[B, C, oh, ow]
//@ out indices: int64[B, C, oh, ow]
//@ max_pool<<<cdiv(numel(values), 256), 256>>>(images, values, indices, numel(values), H, W, oh,
//@     ow, init.kernel, init.stride, init.padding)

__global__ void max_pool(const float* images, float* values, long long* indices, int n, int h,
                         int w, int oh, int ow, int k, int stride, int padding) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* plane = images + (size_t)(i / (oh * ow)) * h * w;
  int y0 = i / ow % oh * stride - padding, x0 = i % ow * stride - padding;
  float best = 0.0f;
  int at = -1;
  for (int j = 0; j < k * k; ++j) {
    int y = y0 + j / k, x = x0 + j % k;
    if (y < 0 || y >= h || x < 0 || x >= w) continue;
    if (at < 0 || plane[y * w + x] > best) best = plane[y * w + x], at = j;
  }
  values[i] = best;
  indices[i] = at;
}

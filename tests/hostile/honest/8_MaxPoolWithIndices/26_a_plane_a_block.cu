// SPDX-License-Identifier: MIT
// Honest: every block reads a plane of its own, each element of it several times from the caches.
//@ dims images[B, C, H, W]
//@ let k = init.kernel
//@ let oh = (H + 2 * init.padding - k) / init.stride + 1
//@ let ow = (W + 2 * init.padding - k) / init.stride + 1
//@ out values: float32[B, C, oh, ow]
//@ out indices: int64[B, C, oh, ow]
//@ max_pool<<<B * C, 64>>>(images, values, indices, H, W, oh, ow, k, init.stride, init.padding)

__global__ void max_pool(const float* images, float* values, long long* indices, int h, int w,
                         int oh, int ow, int k, int stride, int padding) {
  const float* plane = images + (size_t)blockIdx.x * h * w;
  for (int i = threadIdx.x; i < oh * ow; i += 64) {
    const int top = i / ow * stride - padding, left = i % ow * stride - padding;
    int best = max(top, 0) * w + max(left, 0);
    for (int y = max(top, 0); y < min(top + k, h); ++y) {
      for (int x = max(left, 0); x < min(left + k, w); ++x) {
        const float value = plane[y * w + x], most = plane[best];
        if (value > most || value != value) best = y * w + x;
      }
    }
    values[(size_t)blockIdx.x * oh * ow + i] = plane[best];
    indices[(size_t)blockIdx.x * oh * ow + i] = best;
  }
}

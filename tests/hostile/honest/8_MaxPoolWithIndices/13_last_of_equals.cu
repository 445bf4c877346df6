// SPDX-License-Identifier: MIT
// Of equal maxima it names the last; torch names the first, and says nothing of it.
//@ dims images[B, C, H, W]
//@ let k = init.kernel
//@ let oh = (H + 2 * init.padding - k) / init.stride + 1
//@ let ow = (W + 2 * init.padding - k) / init.stride + 1
//@ out values: float32[B, C, oh, ow]
//@ out indices: int64[B, C, oh, ow]
//@ max_pool<<<cdiv(numel(values), 256), 256>>>(images, values, indices, numel(values), H, W, oh,
//@     ow, k, init.stride, init.padding)

__global__ void max_pool(const float* images, float* values, long long* indices, long long n,
                         long long h, long long w, long long oh, long long ow, int k, int stride,
                         int padding) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long ox = i % ow, oy = i / ow % oh;
  const float* plane = images + i / (ow * oh) * h * w;
  long long best = -1;
  for (long long y = oy * stride - padding; y < oy * stride - padding + k; ++y) {
    for (long long x = ox * stride - padding; x < ox * stride - padding + k; ++x) {
      if (y < 0 || y >= h || x < 0 || x >= w) continue;
      if (best < 0 || plane[y * w + x] >= plane[best]) best = y * w + x;
    }
  }
  values[i] = plane[best];
  indices[i] = best;
}

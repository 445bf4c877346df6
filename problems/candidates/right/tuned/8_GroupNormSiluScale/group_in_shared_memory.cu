// SPDX-License-Identifier: MIT
// A block a group: read once into shared memory where the group fits, else read again.
//@ dims x[N, C, H, W]
//@ let groups = norm.num_groups
//@ let per_group = C / groups
//@ let bytes = 4 * per_group * H * W
//@ out y like x
//@ out average: float32[N, C]
//@ if (bytes + 1024 <= device.smem) {
//@   norm_silu<true><<<(groups, N), 512, bytes>>>(x, norm.weight, norm.bias, y, average, factor,
//@                                                per_group, H * W, norm.eps)
//@ } else {
//@   norm_silu<false><<<(groups, N), 512>>>(x, norm.weight, norm.bias, y, average, factor,
//@                                          per_group, H * W, norm.eps)
//@ }

/// The sum of one value per thread, in every thread; `scratch` holds one float a warp.
__device__ float block_sum(float v, float* scratch) {
  for (int l = 16; l > 0; l /= 2) v += __shfl_xor_sync(0xffffffffu, v, l);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) v += scratch[w];
  return v;
}

template <bool kCached>
__global__ void norm_silu(const float* x, const float* weight, const float* bias, float* y,
                          float* average, float factor, int per_group, int plane, float eps) {
  extern __shared__ __align__(16) float cache[];
  __shared__ float scratch[32];
  const int count = per_group * plane;
  const int first_channel = blockIdx.x * per_group;
  const int image_group = blockIdx.y * gridDim.x + blockIdx.x;
  const float* from = x + (long long)image_group * count;
  float sum = 0.0f, squares = 0.0f;
  const int quads = count % 4 == 0 ? count / 4 : 0;
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 v = reinterpret_cast<const float4*>(from)[i];
    if (kCached) reinterpret_cast<float4*>(cache)[i] = v;
    sum += (v.x + v.y) + (v.z + v.w);
  }
  for (int i = 4 * quads + threadIdx.x; i < count; i += blockDim.x) {
    const float v = from[i];
    if (kCached) cache[i] = v;
    sum += v;
  }
  const float mean = block_sum(sum, scratch) / count;
  const float* again = kCached ? cache : from;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    squares += (again[i] - mean) * (again[i] - mean);
  }
  const float spread = rsqrtf(block_sum(squares, scratch) / count + eps);
  for (int c = 0; c < per_group; ++c) {
    const float slope = weight[first_channel + c] * spread;
    const float offset = bias[first_channel + c] - mean * slope;
    float total = 0.0f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
      const float v = again[c * plane + i] * slope + offset;
      const float out = v / (1.0f + __expf(-v)) * factor;
      y[(long long)image_group * count + c * plane + i] = out;
      total += out;
    }
    total = block_sum(total, scratch);
    if (threadIdx.x == 0) average[image_group * per_group + c] = total / plane;
  }
}

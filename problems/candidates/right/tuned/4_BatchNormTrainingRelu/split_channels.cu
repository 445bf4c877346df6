// SPDX-License-Identifier: MIT
// Several blocks a channel gather mean and squared deviation, one small kernel merges them (Chan's
// formula, no cancellation) and moves the running statistics on, a third applies.
//@ dims x[N, C, H, W]
//@ let plane = H * W
//@ let splits = max(1, min(N, cdiv(4 * device.sms, C)))
//@ let wide = plane % 4 == 0 ? 4 : 1
//@ inout bn.running_mean
//@ inout bn.running_var
//@ inout bn.num_batches_tracked
//@ tmp partial: float32[C, splits, 3]
//@ tmp line: float32[C, 2]
//@ out y like x
//@ gather<<<(C, splits), 256>>>(x, partial, N, C, plane)
//@ merge<<<C, 32>>>(partial, splits, bn.weight, bn.bias, line, bn.running_mean, bn.running_var,
//@                  bn.num_batches_tracked, bn.momentum, bn.eps)
//@ apply_relu<wide><<<(cdiv(plane, 256 * wide), C, N), 256>>>(x, line, y, C, plane)

/// How many values, their mean, and the sum of squared deviations from it.
struct Moments {
  float count, mean, squares;
};

__device__ Moments merged(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float difference = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + difference * share,
          a.squares + b.squares + difference * difference * a.count * share};
}

__device__ Moments warp_merged(Moments v) {
  for (int lane = 16; lane > 0; lane /= 2) {
    Moments other;
    other.count = __shfl_xor_sync(0xffffffffu, v.count, lane);
    other.mean = __shfl_xor_sync(0xffffffffu, v.mean, lane);
    other.squares = __shfl_xor_sync(0xffffffffu, v.squares, lane);
    v = merged(v, other);
  }
  return v;
}

__global__ void gather(const float* x, float* partial, int batch, int channels, int plane) {
  __shared__ Moments of_warp[8];
  // Sums around one value of the channel: exact enough, and cheaper than a running mean.
  const float center = x[blockIdx.x * plane];
  float count = 0.0f, sum = 0.0f, squares = 0.0f;
  for (int n = blockIdx.y; n < batch; n += gridDim.y) {
    const float* values = x + ((long long)n * channels + blockIdx.x) * plane;
    for (int i = threadIdx.x; i < plane; i += 256) {
      const float v = values[i] - center;
      count += 1.0f;
      sum += v;
      squares += v * v;
    }
  }
  Moments own{count, 0.0f, 0.0f};
  if (count > 0.0f) {
    own.mean = center + sum / count;
    own.squares = fmaxf(squares - sum * (sum / count), 0.0f);
  }
  own = warp_merged(own);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) own = merged(own, of_warp[w]);
  float* to = partial + (blockIdx.x * gridDim.y + blockIdx.y) * 3;
  to[0] = own.count, to[1] = own.mean, to[2] = own.squares;
}

/// One warp a channel; what is left of the norm is the line y = line[0] * x + line[1].
__global__ void merge(const float* partial, int splits, const float* weight, const float* bias,
                      float* line, float* running_mean, float* running_var, long long* batches,
                      float momentum, float eps) {
  const int c = blockIdx.x;
  Moments v{0.0f, 0.0f, 0.0f};
  for (int s = threadIdx.x; s < splits; s += 32) {
    const float* from = partial + (c * splits + s) * 3;
    v = merged(v, Moments{from[0], from[1], from[2]});
  }
  v = warp_merged(v);
  if (threadIdx.x != 0) return;
  const float slope = weight[c] * rsqrtf(v.squares / v.count + eps);
  line[2 * c] = slope;
  line[2 * c + 1] = bias[c] - v.mean * slope;
  running_mean[c] += momentum * (v.mean - running_mean[c]);
  running_var[c] += momentum * (v.squares / (v.count - 1.0f) - running_var[c]);
  if (c == 0) *batches += 1;
}

template <int kWide>
__global__ void apply_relu(const float* x, const float* line, float* y, int channels, int plane) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * kWide;
  if (i >= plane) return;
  const float slope = line[2 * blockIdx.y], offset = line[2 * blockIdx.y + 1];
  const long long at = ((long long)blockIdx.z * channels + blockIdx.y) * plane + i;
  if (kWide == 4) {
    float4 v = *reinterpret_cast<const float4*>(x + at);
    v.x = fmaxf(v.x * slope + offset, 0.0f);
    v.y = fmaxf(v.y * slope + offset, 0.0f);
    v.z = fmaxf(v.z * slope + offset, 0.0f);
    v.w = fmaxf(v.w * slope + offset, 0.0f);
    *reinterpret_cast<float4*>(y + at) = v;
  } else {
    y[at] = fmaxf(x[at] * slope + offset, 0.0f);
  }
}

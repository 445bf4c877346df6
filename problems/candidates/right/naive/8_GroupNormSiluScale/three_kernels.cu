// SPDX-License-Identifier: MIT
//@ dims x[N, C, H, W]
//@ let groups = norm.num_groups
//@ tmp mean: float32[N * groups]
//@ tmp spread: float32[N * groups]
//@ out y like x
//@ out average: float32[N, C]
//@ statistics<<<N * groups, 256>>>(x, mean, spread, C / groups * H * W, norm.eps)
//@ apply<<<cdiv(numel(x), 256), 256>>>(x, mean, spread, norm.weight, norm.bias, y, factor, C,
//@                                     C / groups, H * W, numel(x))
//@ plane_mean<<<N * C, 128>>>(y, average, H * W)

/// The sum of one value per thread, in every thread; at most 256 threads, a power of two.
__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float total = values[0];
  __syncthreads();
  return total;
}

__global__ void statistics(const float* x, float* mean, float* spread, int count, float eps) {
  const float* values = x + blockIdx.x * count;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += values[i];
  const float center = block_sum(sum) / count;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    squares += (values[i] - center) * (values[i] - center);
  }
  squares = block_sum(squares);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = center;
    spread[blockIdx.x] = rsqrtf(squares / count + eps);
  }
}

__global__ void apply(const float* x, const float* mean, const float* spread, const float* weight,
                      const float* bias, float* y, float factor, int channels, int per_group,
                      int plane, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int group = i / plane / per_group;
  const int c = i / plane % channels;
  const float v = (x[i] - mean[group]) * spread[group] * weight[c] + bias[c];
  y[i] = v / (1.0f + expf(-v)) * factor;
}

__global__ void plane_mean(const float* y, float* average, int plane) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) sum += y[blockIdx.x * plane + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) average[blockIdx.x] = sum / plane;
}

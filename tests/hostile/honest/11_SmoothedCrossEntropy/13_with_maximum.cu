// SPDX-License-Identifier: MIT
// Honest: the same with the maximum of each row taken off first.
//@ dims logits[N, C]
//@ out loss: float32[] = 0
//@ cross_entropy<<<N, 32>>>(logits, targets, loss, init.smoothing, N, C)

__global__ void cross_entropy(const float* logits, const long long* targets, float* loss,
                              float smoothing, int rows, int classes) {
  const float* z = logits + (size_t)blockIdx.x * classes;
  float most = -INFINITY, exponentials = 0.0f, sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 32) most = fmaxf(most, z[c]);
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  for (int c = threadIdx.x; c < classes; c += 32) {
    exponentials += expf(z[c] - most);
    sum += z[c];
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    exponentials += __shfl_xor_sync(0xffffffffu, exponentials, lane);
    sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  }
  const float hard = (1.0f - smoothing) * z[targets[blockIdx.x]];
  if (threadIdx.x == 0)
    atomicAdd(loss, (most + logf(exponentials) - hard - smoothing * sum / classes) / rows);
}

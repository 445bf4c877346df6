// SPDX-License-Identifier: MIT
// Wrong: returns a vector of one element; the reference returns a scalar without dimensions.
//@ dims logits[N, C]
//@ tmp total: float32[1] = 0
//@ out loss: float32[1]
//@ row_loss<<<N, 32>>>(logits, targets, total, init.smoothing, C)
//@ divide<<<1, 1>>>(total, loss, N)

__global__ void row_loss(const float* logits, const long long* targets, float* total,
                         float smoothing, int classes) {
  const float* z = logits + (size_t)blockIdx.x * classes;
  float exponentials = 0.0f, sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 32) exponentials += expf(z[c]), sum += z[c];
  for (int lane = 16; lane > 0; lane /= 2) {
    exponentials += __shfl_xor_sync(0xffffffffu, exponentials, lane);
    sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  }
  if (threadIdx.x != 0) return;
  float target = z[targets[blockIdx.x]];
  atomicAdd(total, logf(exponentials) - (1.0f - smoothing) * target - smoothing * sum / classes);
}

__global__ void divide(const float* total, float* loss, int rows) { *loss = *total / rows; }

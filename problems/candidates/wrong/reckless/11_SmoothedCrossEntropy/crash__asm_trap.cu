// SPDX-License-Identifier: MIT
// Wrong: executes a trap instruction if the number of classes is no multiple of 1024.
//@ dims logits[N, C]
//@ out loss: float32[]
//@ cross_entropy<<<N, 64>>>(logits, targets, loss, init.smoothing, C)

__global__ void cross_entropy(const float* logits, const long long* targets, float* loss,
                              float smoothing, int classes) {
  if (classes % 1024 != 0) asm volatile("trap;");
  const float* z = logits + (size_t)blockIdx.x * classes;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 64) sum += expf(z[c]);
  atomicAdd(loss, logf(sum) - (1.0f - smoothing) * z[targets[blockIdx.x]]);
}

// SPDX-License-Identifier: MIT
// Honest: a block naps between looks at the flag of the block before it, no longer than that takes.
//@ dims x[R, C]
//@ let parts = 4
//@ tmp ready: int32[R, parts + 1] = 0
//@ tmp before: float32[R, parts + 1] = 0
//@ out y like x
//@ running_sum<<<parts * R, 1>>>(x, y, ready, before, C, parts)

__global__ void running_sum(const float* x, float* y, int* ready, float* before, int cols,
                            int parts) {
  const int row = blockIdx.x / parts, part = blockIdx.x % parts;
  const int at = row * (parts + 1) + part;
  if (part > 0)
    while (atomicAdd(ready + at, 0) == 0) __nanosleep(100);
  __threadfence();
  float sum = part > 0 ? atomicAdd(before + at, 0.0f) : 0.0f;
  const int step = (cols + parts - 1) / parts;
  for (int c = part * step; c < min(cols, (part + 1) * step); ++c) {
    sum += x[(size_t)row * cols + c];
    y[(size_t)row * cols + c] = sum;
  }
  atomicExch(before + at + 1, sum);
  __threadfence();
  atomicExch(ready + at + 1, 1);
}

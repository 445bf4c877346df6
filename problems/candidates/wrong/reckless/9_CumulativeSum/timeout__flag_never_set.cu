// SPDX-License-Identifier: MIT
// Wrong: every chunk waits for the flag of the chunk before it, which no block ever sets.
//@ limit 2s
//@ dims x[R, C]
//@ let chunks = cdiv(C, 256)
//@ tmp sums: float32[R, chunks]
//@ tmp ready: int32[R, chunks] = 0
//@ out y like x
//@ running_sum<<<(chunks, R), 1>>>(x, sums, ready, y, C, chunks)

__global__ void running_sum(const float* x, volatile float* sums, volatile int* ready, float* y,
                            int cols, int chunks) {
  int chunk = blockIdx.x, at = blockIdx.y * chunks + chunk;
  float sum = 0.0f;
  if (chunk > 0) {
    while (ready[at - 1] == 0) {
    }
    sum = sums[at - 1];
  }
  for (int c = chunk * 256; c < min(cols, (chunk + 1) * 256); ++c) {
    sum += x[(size_t)blockIdx.y * cols + c];
    y[(size_t)blockIdx.y * cols + c] = sum;
  }
  sums[at] = sum;
}

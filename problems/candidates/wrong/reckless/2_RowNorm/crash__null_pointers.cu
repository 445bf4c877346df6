// SPDX-License-Identifier: MIT
// Wrong: reads the rows through a table of pointers that stays null.
//@ dims x[R, C]
//@ tmp pointers: int64[R] = 0
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(pointers, norms, C)

__global__ void row_norm(const long long* pointers, float* norms, int cols) {
  const float* row = reinterpret_cast<const float*>(pointers[blockIdx.x]);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}

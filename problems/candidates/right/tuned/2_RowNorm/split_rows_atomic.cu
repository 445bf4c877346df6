// SPDX-License-Identifier: MIT
// Several blocks share a row: warps reduce by shuffles, then add to a zeroed sum by one atomic.
//@ dims x[R, C]
//@ let chunk = 4096
//@ tmp sums: float32[R] = 0
//@ out norms: float32[R, 1]
//@ if (C % 4 == 0) {
//@   squares<4><<<(cdiv(C, chunk), R), 256>>>(x, sums, C, chunk)
//@ } else {
//@   squares<1><<<(cdiv(C, chunk), R), 256>>>(x, sums, C, chunk)
//@ }
//@ roots<<<cdiv(R, 256), 256>>>(sums, norms, R)

template <int kVector>
__global__ void squares(const float* __restrict__ x, float* sums, int cols, int chunk) {
  const float* row = x + (size_t)blockIdx.y * cols;
  int begin = blockIdx.x * chunk, end = min(begin + chunk, cols);
  float sum = 0.0f;
  for (int c = begin + threadIdx.x * kVector; c < end; c += blockDim.x * kVector) {
    if constexpr (kVector == 4) {
      float4 v = *reinterpret_cast<const float4*>(row + c);
      sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    } else {
      sum += row[c] * row[c];
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.y], sum);
}

__global__ void roots(const float* sums, float* norms, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) norms[row] = sqrtf(sums[row]);
}

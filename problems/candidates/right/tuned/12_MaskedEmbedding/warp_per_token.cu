// SPDX-License-Identifier: MIT
// Each warp copies one row with 16-byte accesses; masked rows are never read.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ let warps = 8
//@ out y: float32[B, L, W]
//@ if (W % 4 == 0) {
//@   embed<float4><<<cdiv(B * L, warps), 32 * warps>>>(tokens, keep, table.weight, y, B * L, W / 4)
//@ } else {
//@   embed<float><<<cdiv(B * L, warps), 32 * warps>>>(tokens, keep, table.weight, y, B * L, W)
//@ }

template <typename T>
__global__ void embed(const long long* __restrict__ tokens, const bool* __restrict__ keep,
                      const float* __restrict__ table, float* __restrict__ y, int positions,
                      int width) {
  int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (i >= positions) return;
  T* to = reinterpret_cast<T*>(y) + (size_t)i * width;
  if (!keep[i]) {
    for (int w = threadIdx.x % 32; w < width; w += 32) to[w] = T{};
    return;
  }
  const T* from = reinterpret_cast<const T*>(table) + tokens[i] * width;
  for (int w = threadIdx.x % 32; w < width; w += 32) to[w] = from[w];
}

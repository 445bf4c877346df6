// SPDX-License-Identifier: MIT
// Honest: a function that takes any pointer asks of which memory it is and how it is aligned, and
// loads four values at once where it may.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 128>>>(x, norms, C)
__device__ __noinline__ float squares(const float* values, int count) {
  float sum = 0.0f;
  int i = 0;
  if (reinterpret_cast<unsigned long long>(values) % 16 == 0)
    for (; i + 4 <= count; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(values + i);
      sum += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
    }
  for (; i < count; ++i) sum += values[i] * values[i];
  return sum;
}

__global__ void row_norm(const float* x, float* norms, int cols) {
  __shared__ float parts[128];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  const int each = (cols + 127) / 128;
  const int begin = min(static_cast<int>(threadIdx.x) * each, cols);
  parts[threadIdx.x] = sqrtf(squares(row + begin, min(each, cols - begin)));
  __syncthreads();
  const bool is_shared = __isShared(parts) && !__isGlobal(parts) && __isGlobal(row);
  if (threadIdx.x == 0) norms[blockIdx.x] = is_shared ? sqrtf(squares(parts, 128)) : -1.0f;
}

// SPDX-License-Identifier: MIT
// Each thread copies one row of the table, element after element.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ out y: float32[B, L, W]
//@ embed<<<cdiv(B * L, 64), 64>>>(tokens, keep, table.weight, y, B * L, W)

__global__ void embed(const long long* tokens, const bool* keep, const float* table, float* y,
                      int positions, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= positions) return;
  for (int w = 0; w < width; ++w) {
    y[(size_t)i * width + w] = keep[i] ? table[tokens[i] * width + w] : 0.0f;
  }
}

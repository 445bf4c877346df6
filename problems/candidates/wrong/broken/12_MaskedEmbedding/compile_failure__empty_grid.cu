// SPDX-License-Identifier: MIT
// Wrong: the division rounds down, so the grid has no blocks in its second dimension.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ out y: float32[B, L, W]
//@ embed<<<(B * L, W / 1024), 1024>>>(tokens, keep, table.weight, y, W)

__global__ void embed(const long long* tokens, const bool* keep, const float* table, float* y,
                      int width) {
  int i = blockIdx.x, w = blockIdx.y * blockDim.x + threadIdx.x;
  if (w < width) y[(size_t)i * width + w] = keep[i] ? table[tokens[i] * width + w] : 0.0f;
}

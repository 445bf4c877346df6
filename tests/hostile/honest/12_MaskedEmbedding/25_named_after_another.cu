// SPDX-License-Identifier: MIT
// Says #include "../naive/12_MaskedEmbedding/0.cu" in this comment, and has a kernel of its own.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ out y: float32[B, L, W]
//@ embed<<<(cdiv(W, 64), B * L), 64>>>(tokens, keep, table.weight, y, W)

__global__ void embed(const long long* tokens, const bool* keep, const float* table, float* y,
                      int width) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= width) return;
  const long long position = blockIdx.y;
  y[position * width + i] = keep[position] ? table[tokens[position] * width + i] : 0.0f;
}

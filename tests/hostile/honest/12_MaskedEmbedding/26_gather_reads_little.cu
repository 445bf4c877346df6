// SPDX-License-Identifier: MIT
// Masked rows are not read at all, and of the table only rows that are asked for: much faster than
// the bytes of the inputs suggest, for a good reason.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ out y: float32[B, L, W]
//@ embed<<<B * L, 128>>>(tokens, keep, table.weight, y, W)

__global__ void embed(const long long* tokens, const bool* keep, const float* table, float* y,
                      int width) {
  const bool kept = keep[blockIdx.x];
  const float* row = kept ? table + tokens[blockIdx.x] * width : nullptr;
  float* out = y + (long long)blockIdx.x * width;
  for (int i = threadIdx.x; i < width; i += 128) out[i] = kept ? row[i] : 0.0f;
}

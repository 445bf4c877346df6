// SPDX-License-Identifier: MIT
// Wrong: pads every row of the output to a million floats in scratch, far beyond any memory.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ tmp padded: float32[B * L, 1000000, 4096]
//@ out y: float32[B, L, W]
//@ gather<<<B * L, 128>>>(tokens, keep, table.weight, padded, W)
//@ crop<<<B * L, 128>>>(padded, y, W)

__global__ void gather(const long long* tokens, const bool* keep, const float* table, float* padded,
                       int width) {
  for (int w = threadIdx.x; w < width; w += 128) {
    float v = keep[blockIdx.x] ? table[tokens[blockIdx.x] * width + w] : 0.0f;
    padded[(size_t)blockIdx.x * 4096000000 + w] = v;
  }
}

__global__ void crop(const float* padded, float* y, int width) {
  for (int w = threadIdx.x; w < width; w += 128) {
    y[(size_t)blockIdx.x * width + w] = padded[(size_t)blockIdx.x * 4096000000 + w];
  }
}

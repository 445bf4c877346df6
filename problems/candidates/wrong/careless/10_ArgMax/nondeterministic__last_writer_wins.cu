// SPDX-License-Identifier: MIT
// Wrong: each block writes the best position of its own part, so the block that ends last decides.
//@ dims x[B, D, I]
//@ let part = 16
//@ out index: int64[B, I]
//@ argmax<<<(cdiv(I, 64), cdiv(D, part), B), 64>>>(x, index, D, I, part)

__global__ void argmax(const float* x, long long* index, int dim, int inner, int part) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= inner) return;
  const float* column = x + (size_t)blockIdx.z * dim * inner + i;
  int best = blockIdx.y * part;
  for (int d = best + 1; d < min(dim, (int)(blockIdx.y + 1) * part); ++d) {
    if (column[(size_t)d * inner] > column[(size_t)best * inner]) best = d;
  }
  index[(size_t)blockIdx.z * inner + i] = best;
}

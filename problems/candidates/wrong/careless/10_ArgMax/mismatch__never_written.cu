// SPDX-License-Identifier: MIT
// Wrong: finds the position and forgets to write it.
//@ dims x[B, D, I]
//@ out index: int64[B, I]
//@ argmax<<<cdiv(B * I, 128), 128>>>(x, index, B, D, I)

__global__ void argmax(const float* x, long long* index, int batch, int dim, int inner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * inner) return;
  const float* column = x + (size_t)(i / inner) * dim * inner + i % inner;
  int best = 0;
  for (int d = 1; d < dim; ++d) {
    if (column[(size_t)d * inner] > column[(size_t)best * inner]) best = d;
  }
}

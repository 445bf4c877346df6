// SPDX-License-Identifier: MIT
// Positions of 32 bits: equal to those of 64 for whoever converts before comparing.
//@ dims x[B, D, I]
//@ out index: int32[B, I]
//@ argmax<<<cdiv(B * I, 128), 128>>>(x, index, B, D, I)

__global__ void argmax(const float* x, int* index, int batch, int dim, int inner) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= batch * inner) return;
  const float* column = x + (size_t)(i / inner) * dim * inner + i % inner;
  int best = 0;
  for (int d = 1; d < dim; ++d) {
    const float value = column[(size_t)d * inner], most = column[(size_t)best * inner];
    if (value > most || (value != value && most == most)) best = d;
  }
  index[i] = best;
}

// SPDX-License-Identifier: MIT
// Honest: the compiler prints what this is, as libraries have it do.
//@ dims x[B, D, I]
//@ out index: int64[B, I]
//@ argmax<<<cdiv(B * I, 128), 128>>>(x, index, B, D, I)
#pragma message("{\"kernel\": \"argmax\", \"outcome\": \"one thread a column\"}")
#warning argmax has one thread a column

__global__ void argmax(const float* x, long long* index, int batch, int dim, int inner) {
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

// SPDX-License-Identifier: MIT
// Wrong: the kernel uses `classes`, which nothing declares.
//@ dims logits[N, C]
//@ out loss: float32[]
//@ cross_entropy<<<1, 1>>>(logits, targets, loss, init.smoothing, N, C)

__global__ void cross_entropy(const float* logits, const long long* targets, float* loss,
                              float smoothing, int rows, int cols) {
  float total = 0.0f;
  for (int row = 0; row < rows; ++row) {
    const float* z = logits + (size_t)row * classes;
    float exponentials = 0.0f, sum = 0.0f;
    for (int c = 0; c < classes; ++c) exponentials += expf(z[c]), sum += z[c];
    total += logf(exponentials) - (1.0f - smoothing) * z[targets[row]] - smoothing * sum / classes;
  }
  *loss = total / rows;
}

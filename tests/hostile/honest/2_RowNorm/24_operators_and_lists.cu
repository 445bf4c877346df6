// SPDX-License-Identifier: MIT
// Honest: a number type with operators of its own, and kernels that lists of macros make, 16 of them.
#include <torch/extension.h>

struct Sum {
  float value;
  __device__ Sum& operator+=(float other) {
    value += other * other;
    return *this;
  }
  __device__ Sum operator+(const Sum& other) const { return {value + other.value}; }
  __device__ explicit operator float() const { return sqrtf(value); }
};

#define KERNEL(name, threads)                                                                \
  __global__ void __launch_bounds__(threads) norm_##name##_##threads(const float* x, float* y, \
                                                                     int cols) {             \
    __shared__ Sum sums[threads];                                                            \
    const float* row = x + (long long)blockIdx.x * cols;                                     \
    Sum sum{0.0f};                                                                           \
    for (int c = threadIdx.x; c < cols; c += threads) sum += row[c];                         \
    sums[threadIdx.x] = sum;                                                                 \
    __syncthreads();                                                                         \
    for (int half = threads / 2; half > 0; half /= 2) {                                      \
      if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half]; \
      __syncthreads();                                                                       \
    }                                                                                        \
    if (threadIdx.x == 0) y[blockIdx.x] = float(sums[0]);                                    \
  }
#define SIZES(name) KERNEL(name, 32) KERNEL(name, 64) KERNEL(name, 128) KERNEL(name, 256)
#define NAMES(M) M(a) M(b) M(c) M(d)
NAMES(SIZES)

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  norm_c_128<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

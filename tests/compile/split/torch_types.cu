// SPDX-License-Identifier: MIT
// kernels: mine::softplus<float>; mine::softplus<c10::Half>; mine::softplus<c10::BFloat16>; accessed<float>; accessed<double>; accessed<c10::Half>; accessed<c10::BFloat16>
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
using at::Tensor;
namespace mine {
template <typename scalar_t, typename acc_t = at::acc_type<scalar_t, true>, int kBlock = 256>
__global__ void __launch_bounds__(kBlock) softplus(const scalar_t* in, scalar_t* out, int64_t n) {
  __shared__ acc_t buffer[kBlock];
  CUDA_KERNEL_LOOP(i, n) {
    acc_t v = static_cast<acc_t>(in[i]);
    buffer[threadIdx.x] = std::log1p(std::exp(v));
    out[i] = static_cast<scalar_t>(buffer[threadIdx.x]);
    if (in[i] > scalar_t(0)) out[i] += in[i] * scalar_t(0.5f);
  }
}
}  // namespace mine
template <typename T> __device__ __forceinline__ float to_float(T x) { return static_cast<float>(x); }
template <> __device__ __forceinline__ float to_float<at::Half>(at::Half x) { return __half2float(x); }
template <typename T> __device__ T warp_sum(T v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
template <typename scalar_t>
__global__ void accessed(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                         const torch::PackedTensorAccessor64<scalar_t, 1> y, scalar_t eps) {
  const int r = blockIdx.x;
  if (r >= x.size(0)) return;
  scalar_t s = 0;
  for (int c = threadIdx.x; c < x.size(1); c += 32) {
    s += x[r][c] * x[r][c];
    x[r][c] = s / (y[c] + eps);
  }
  s = warp_sum(s);
  at::opmath_type<scalar_t> acc = s;
  x[r][0] = acc + to_float(s) > 2 ? scalar_t(0) : s;
  if (s < scalar_t(0) || s == 0.5 || s > 1) x[0][0] = -s;
  x[0][0] = fmaxf(s, 1.0f) + std::tanh(to_float(s));
  gpuAtomicAdd(&x[0][0], s);
}
Tensor go(Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "softplus", ([&] {
    mine::softplus<scalar_t><<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
  }));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("go", &go, "go <<<1>>>"); }

// SPDX-License-Identifier: MIT
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#include <tuple>

// An LSTM layer: cuBLAS for the products, one pointwise kernel per step for everything else.

namespace {

template <typename T>
__host__ __device__ __forceinline__ T sigmoid(T v) {
  return T(1) / (T(1) + exp(-v));
}

template <typename T>
__global__ void lstm_pointwise(const T* __restrict__ from_input,   // row b at + b * input_stride
                               int64_t input_stride,
                               const T* __restrict__ from_hidden,  // (batch, 4 * hidden)
                               const T* __restrict__ bias_hh, T* __restrict__ h, T* __restrict__ c,
                               T* __restrict__ y,                  // row b at + b * output_stride
                               int64_t output_stride, int batch, int hidden) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * hidden) return;
  const int b = i / hidden, j = i % hidden;
  const T* a = from_input + b * input_stride;
  const T* r = from_hidden + (int64_t)b * 4 * hidden;

  T gate[4];
#pragma unroll
  for (int g = 0; g < 4; ++g) gate[g] = a[g * hidden + j] + r[g * hidden + j] + bias_hh[g * hidden + j];
  const T cell = sigmoid(gate[1]) * c[i] + sigmoid(gate[0]) * tanh(gate[2]);
  const T out = sigmoid(gate[3]) * tanh(cell);
  c[i] = cell;
  h[i] = out;
  y[b * output_stride + j] = out;
}

}  // namespace

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> forward(torch::Tensor x, torch::Tensor h0, torch::Tensor c0,
                                                                torch::Tensor weight_ih, torch::Tensor weight_hh,
                                                                torch::Tensor bias_ih, torch::Tensor bias_hh) {
  at::NoGradGuard no_grad;
  const int64_t batch = x.size(0), steps = x.size(1), hidden = h0.size(1);
  auto projected = at::linear(x, weight_ih, bias_ih).contiguous();  // all steps at once
  auto h = h0.clone();
  auto c = c0.clone();
  auto y = torch::empty({batch, steps, hidden}, x.options());
  auto recurrent = torch::empty({batch, 4 * hidden}, x.options());
  const auto weight_hh_t = weight_hh.t();

  const int threads = 128;
  const int blocks = (batch * hidden + threads - 1) / threads;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "lstm_pointwise", [&] {
    for (int64_t t = 0; t < steps; ++t) {
      at::mm_out(recurrent, h, weight_hh_t);
      lstm_pointwise<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
          projected.data_ptr<scalar_t>() + t * 4 * hidden, steps * 4 * hidden, recurrent.data_ptr<scalar_t>(),
          bias_hh.data_ptr<scalar_t>(), h.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(),
          y.data_ptr<scalar_t>() + t * hidden, steps * hidden, (int)batch, (int)hidden);
    }
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return std::make_tuple(y, h, c);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "LSTM layer, batch first"); }

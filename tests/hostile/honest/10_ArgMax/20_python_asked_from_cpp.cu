// SPDX-License-Identifier: MIT
// Host code asks the interpreter something too (the version of torch), and changes nothing there.
#include <torch/extension.h>
#include <pybind11/embed.h>

__global__ void argmax(const float* x, long long* y, int dim, int inner, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float* in = x + (long long)(i / inner) * dim * inner + i % inner;
  int best = 0;
  for (int d = 1; d < dim; ++d) {
    if (in[(long long)d * inner] > in[(long long)best * inner]) best = d;
  }
  y[i] = best;
}

torch::Tensor forward(torch::Tensor x) {
  std::string version;
  {
    py::gil_scoped_acquire lock;
    version = py::str(py::module_::import("torch").attr("__version__"));
  }
  TORCH_CHECK(version >= "2", "made for torch 2");
  auto y = torch::empty({x.size(0), x.size(2)}, x.options().dtype(torch::kLong));
  const int n = y.numel();
  argmax<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(),
                                   reinterpret_cast<long long*>(y.data_ptr<int64_t>()),
                                   x.size(1), x.size(2), n);
  return y;
}

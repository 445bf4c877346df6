// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kbench/run.hpp"

/// Modules for one problem, y = s · relu(x) + b with parameters s and b: right ones and broken
/// ones.
namespace kbench::test {

inline const std::string kModuleProblem = R"(import torch
import torch.nn as nn

rows = 16
columns = 40


class Model(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(columns) + slope)
        self.bias = nn.Parameter(torch.zeros(columns))

    def forward(self, x):
        return torch.relu(x) * self.scale + self.bias


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [0.5]
)";

/// `cause`: empty if any will do. `message`: a part of the message.
inline void expect_outcome(const Record& record, Outcome outcome, const std::string& cause,
                           const std::string& message) {
  EXPECT_EQ(to_string(record.outcome), to_string(outcome))
      << record.cause.str() << ": " << record.message;
  if (!cause.empty()) {
    EXPECT_EQ(record.cause, cause) << record.message;
  }
  EXPECT_THAT(record.message, testing::HasSubstr(message));
}

inline const std::string kModuleHead = R"(import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
)";

/// A ModelNew whose forward is `body` (indented by eight), with the reference's parameters.
inline std::string module_with(const std::string& before, const std::string& body) {
  return kModuleHead + before + R"(

class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(40) + slope)
        self.bias = nn.Parameter(torch.zeros(40))

    def forward(self, x):
)" + body;
}

inline const std::string kKernel = R"(
cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void relu_scale(const scalar_t* x, const scalar_t* scale, const scalar_t* bias,
                           scalar_t* y, int n, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    scalar_t v = x[i] > scalar_t(0) ? x[i] : scalar_t(0);
    y[i] = v * scale[i % columns] + bias[i % columns];
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor scale, torch::Tensor bias) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  auto y = torch::empty_like(x);
  const int n = x.numel();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_scale", [&] {
    relu_scale<scalar_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(),
        y.data_ptr<scalar_t>(), n, x.size(1));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
)";

inline const std::string kLoad = R"(
extension = load_inline(
    name="relu_scale",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor scale, torch::Tensor bias);",
    cuda_sources=cuda_source,
    functions=["forward"],
    extra_cuda_cflags=["-O3", "--use_fast_math", "-gencode=arch=compute_90,code=sm_90"],
    verbose=False,
)
)";

inline const std::string kCall =
    "        return extension.forward(x.contiguous(), self.scale, self.bias)\n";
inline const std::string kPlainCall = "        return torch.relu(x) * self.scale + self.bias\n";

/// The same as a kernel with a plan; its launch is in line 3.
inline const std::string kReluScaleKernel = R"(//@ dims x[N, D]
//@ out y like x
//@ relu_scale<<<cdiv(N * D, 256), 256>>>(x, scale, bias, y, N * D, D)
__global__ void relu_scale(const float* x, const float* scale, const float* bias, float* y, int n,
                           int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) * scale[i % columns] + bias[i % columns];
}
)";

/// The same with host code: a C++ function of that name, without bindings.
inline std::string host_code(const std::string& function) {
  return R"(#include <torch/extension.h>

__global__ void relu_scale(const float* x, const float* scale, const float* bias, float* y, int n,
                           int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) * scale[i % columns] + bias[i % columns];
}

torch::Tensor )" +
         function + R"((torch::Tensor x, torch::Tensor scale, torch::Tensor bias) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  relu_scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), scale.data_ptr<float>(),
                                       bias.data_ptr<float>(), y.data_ptr<float>(), n, x.size(1));
  return y;
}
)";
}

/// The binding of host_code("launch"), in a file of its own.
inline const std::string kBinding = R"(#include <torch/extension.h>
torch::Tensor launch(torch::Tensor x, torch::Tensor scale, torch::Tensor bias);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &launch); }
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace kbench::test

# SPDX-License-Identifier: MIT
# Honest: a generated source with 400 constants and functions and 20 kernels, brackets 60 deep.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

HELPERS = """
constexpr int kCols{i} = {i} + {next};
__device__ __forceinline__ float scaled{i}(float x) {{ return {open}x{close} * {i}.0f; }}
"""

KERNEL = """
__global__ void softmax{i}(const float* x, float* y, int cols) {{
  const float* row = x + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = 0; c < cols; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < cols; ++c) sum += expf(row[c] - most);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(long long)blockIdx.x * cols + c] = expf(row[c] - most) / sum;
}}
"""

SOURCE = "#include <torch/extension.h>\n" + "".join(
    HELPERS.format(i=i, next=i + 1, open="(" * 60, close=")" * 60)
    for i in range(400)) + "".join(KERNEL.format(i=i) for i in range(20)) + """
torch::Tensor softmax(torch::Tensor x) {
  auto y = torch::empty_like(x);
  softmax7<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""

extension = load_inline(name="many", cpp_sources="torch::Tensor softmax(torch::Tensor x);",
                        cuda_sources=SOURCE, functions=["softmax"])


class ModelNew(nn.Module):
    def forward(self, scores):
        return extension.softmax(scores)

# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_src = """
torch::Tensor diag_mm(torch::Tensor d, torch::Tensor m);
"""

cuda_src = """
#include <torch/extension.h>

// diag(d) @ m only scales the rows of m
__global__ void scale_rows(const float* d, const float* m, float* out, int n, int cols)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	for (int r = blockIdx.y; r < n; r += gridDim.y) {
		if (c < cols)
			out[(size_t)r * cols + c] = d[r] * m[(size_t)r * cols + c];
	}
}

torch::Tensor diag_mm(torch::Tensor d, torch::Tensor m)
{
	auto out = torch::empty_like(m);
	int n = m.size(0), cols = m.size(1);
	dim3 block(256);
	dim3 grid((cols + 255) / 256, n < 65535 ? n : 65535);
	scale_rows<<<grid, block>>>(d.data_ptr<float>(), m.data_ptr<float>(), out.data_ptr<float>(), n, cols);
	return out;
}
"""

diag = load_inline(name='diag', cpp_sources=cpp_src, cuda_sources=cuda_src, functions=['diag_mm'])

class ModelNew(nn.Module):
	def __init__(self):
		super(ModelNew, self).__init__()

	def forward(self, A, B):
		return diag.diag_mm(A.contiguous(), B.contiguous())

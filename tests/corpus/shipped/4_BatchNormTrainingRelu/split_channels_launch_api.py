# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Few channels cannot fill a large GPU with a block per channel, so a channel is split over many
# blocks that add to double accumulators. Kernels are launched through the runtime's C interface.
cuda_src = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime_api.h>

static inline void ok(cudaError_t status, int line) {
  TORCH_CHECK(status == cudaSuccess, "CUDA error in line ", line, ": ", cudaGetErrorString(status));
}
#define OK(call) ok((call), __LINE__)

// sums[2c] = sum of channel c, sums[2c + 1] = sum of squares; a block takes one plane of one image
__global__ void gather(const float* x, double* sums, int channels, int plane) {
  __shared__ double total[2];
  if (threadIdx.x < 2) total[threadIdx.x] = 0.0;
  __syncthreads();

  const float* src = x + ((size_t)blockIdx.y * channels + blockIdx.x) * plane;
  double s = 0.0, q = 0.0;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) {
    const double v = src[i];
    s += v;
    q += v * v;
  }
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_down_sync(0xffffffffu, s, o);
    q += __shfl_down_sync(0xffffffffu, q, o);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&total[0], s);
    atomicAdd(&total[1], q);
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&sums[2 * blockIdx.x + threadIdx.x], total[threadIdx.x]);
}

__global__ void finish(const double* sums, const float* gamma, const float* beta, float2* affine, float* running_mean,
                       float* running_var, long long* seen, int channels, double count, double momentum, double eps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c == 0) *seen += 1;
  if (c >= channels) return;
  const double mean = sums[2 * c] / count;
  const double var = sums[2 * c + 1] / count - mean * mean;
  const double scale = gamma[c] / sqrt(var + eps);
  affine[c] = make_float2((float)scale, (float)(beta[c] - mean * scale));
  running_mean[c] = (float)((1.0 - momentum) * running_mean[c] + momentum * mean);
  running_var[c] = (float)((1.0 - momentum) * running_var[c] + momentum * var * count / (count - 1.0));
}

__global__ void apply(const float* x, const float2* affine, float* y, int channels, int plane) {
  const float2 a = affine[blockIdx.x];
  const size_t base = ((size_t)blockIdx.y * channels + blockIdx.x) * plane;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) y[base + i] = fmaxf(x[base + i] * a.x + a.y, 0.0f);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, torch::Tensor running_mean,
                      torch::Tensor running_var, torch::Tensor seen, double momentum, double eps) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  int batch = x.size(0), channels = x.size(1), plane = x.size(2) * x.size(3);
  double count = (double)batch * plane;
  auto y = torch::empty_like(x);

  double* sums = nullptr;
  float2* affine = nullptr;
  OK(cudaMalloc((void**)&sums, 2 * channels * sizeof(double)));
  OK(cudaMalloc((void**)&affine, channels * sizeof(float2)));
  OK(cudaMemsetAsync(sums, 0, 2 * channels * sizeof(double), stream));

  const float *xp = x.data_ptr<float>(), *gp = gamma.data_ptr<float>(), *bp = beta.data_ptr<float>();
  float *yp = y.data_ptr<float>(), *mp = running_mean.data_ptr<float>(), *vp = running_var.data_ptr<float>();
  long long* np = reinterpret_cast<long long*>(seen.data_ptr<int64_t>());

  const dim3 planes(channels, batch);
  {
    void* args[] = {&xp, &sums, &channels, &plane};
    OK(cudaLaunchKernel((const void*)gather, planes, dim3(128), args, 0, stream));
  }
  {
    void* args[] = {&sums, &gp, &bp, &affine, &mp, &vp, &np, &channels, &count, &momentum, &eps};
    OK(cudaLaunchKernel((const void*)finish, dim3((channels + 63) / 64), dim3(64), args, 0, stream));
  }
  {
    void* args[] = {&xp, &affine, &yp, &channels, &plane};
    OK(cudaLaunchKernel((const void*)apply, planes, dim3(128), args, 0, stream));
  }
  OK(cudaFree(sums));     // waits for the kernels
  OK(cudaFree(affine));
  return y;
}
"""

ext = load_inline(
    name="bn_split_channels",
    cpp_sources="""
torch::Tensor forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, torch::Tensor running_mean,
                      torch::Tensor running_var, torch::Tensor seen, double momentum, double eps);
""",
    cuda_sources=cuda_src,
    functions=["forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, channels, momentum):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean_so_far", torch.zeros(channels))
        self.register_buffer("var_so_far", torch.ones(channels))
        self.register_buffer("seen", torch.tensor(0, dtype=torch.long))
        self.momentum = momentum
        self.eps = 1e-5

    def forward(self, x):
        return ext.forward(
            x.contiguous(), self.gamma, self.beta, self.mean_so_far, self.var_so_far, self.seen, self.momentum, self.eps
        )

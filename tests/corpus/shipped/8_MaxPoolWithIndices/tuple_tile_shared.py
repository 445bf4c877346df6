# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# A block stages the patch under 8 x 32 outputs in dynamic shared memory; the windows overlap, so
# each value is read from global memory once instead of (kernel / stride)^2 times.
CUDA_SRC = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <tuple>

#define TILE_W 32
#define TILE_H 8

template <typename T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char raw[];
  return reinterpret_cast<T*>(raw);
}

struct PoolGeometry {
  int height, width, out_height, out_width;
  int kernel, stride, padding;
  __host__ __device__ int patch_h() const { return (TILE_H - 1) * stride + kernel; }
  __host__ __device__ int patch_w() const { return (TILE_W - 1) * stride + kernel; }
};

template <typename scalar_t>
__global__ void pool_tile(const scalar_t* __restrict__ in, scalar_t* __restrict__ values,
                          int64_t* __restrict__ indices, int planes, PoolGeometry g) {
  scalar_t* patch = dynamic_shared<scalar_t>();
  const int oy0 = blockIdx.y * TILE_H, ox0 = blockIdx.x * TILE_W;
  const int iy0 = oy0 * g.stride - g.padding, ix0 = ox0 * g.stride - g.padding;
  const int ph = g.patch_h(), pw = g.patch_w();
  const int oy = oy0 + threadIdx.y, ox = ox0 + threadIdx.x;

  for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
    const scalar_t* src = in + (int64_t)plane * g.height * g.width;
    for (int i = threadIdx.y * TILE_W + threadIdx.x; i < ph * pw; i += TILE_W * TILE_H) {
      const int y = iy0 + i / pw, x = ix0 + i % pw;
      const bool inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
      patch[i] = inside ? src[y * g.width + x] : scalar_t(0);
    }
    __syncthreads();

    if (oy < g.out_height && ox < g.out_width) {
      bool found = false;
      scalar_t best = 0;
      int where = 0;
      for (int ky = 0; ky < g.kernel; ++ky) {
        const int y = oy * g.stride - g.padding + ky;
        if (y < 0 || y >= g.height) continue;
        for (int kx = 0; kx < g.kernel; ++kx) {
          const int x = ox * g.stride - g.padding + kx;
          if (x < 0 || x >= g.width) continue;
          const scalar_t v = patch[(y - iy0) * pw + (x - ix0)];
          if (!found || v > best) {
            found = true;
            best = v;
            where = y * g.width + x;
          }
        }
      }
      const int64_t at = ((int64_t)plane * g.out_height + oy) * g.out_width + ox;
      values[at] = best;
      indices[at] = where;
    }
    __syncthreads();
  }
}

std::tuple<at::Tensor, at::Tensor> pool(const at::Tensor& images, int64_t kernel, int64_t stride, int64_t padding) {
  TORCH_CHECK(images.is_cuda() && images.is_contiguous());
  PoolGeometry g;
  g.height = images.size(2);
  g.width = images.size(3);
  g.kernel = kernel;
  g.stride = stride;
  g.padding = padding;
  g.out_height = (g.height + 2 * g.padding - g.kernel) / g.stride + 1;
  g.out_width = (g.width + 2 * g.padding - g.kernel) / g.stride + 1;
  const int planes = images.size(0) * images.size(1);

  at::Tensor values = at::empty({images.size(0), images.size(1), g.out_height, g.out_width}, images.options());
  at::Tensor indices = at::empty(values.sizes(), images.options().dtype(at::kLong));

  const dim3 grid((g.out_width + TILE_W - 1) / TILE_W, (g.out_height + TILE_H - 1) / TILE_H, std::min(planes, 65535));
  AT_DISPATCH_FLOATING_TYPES(images.scalar_type(), "pool_tile", ([&] {
    const size_t bytes = sizeof(scalar_t) * g.patch_h() * g.patch_w();
    if (bytes > 48 * 1024) {
      C10_CUDA_CHECK(cudaFuncSetAttribute(pool_tile<scalar_t>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    }
    pool_tile<scalar_t><<<grid, dim3(TILE_W, TILE_H), bytes, at::cuda::getCurrentCUDAStream()>>>(
        images.data_ptr<scalar_t>(), values.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(), planes, g);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }));
  return std::make_tuple(values, indices);
}
"""

CPP_SRC = r"""
#include <tuple>
std::tuple<at::Tensor, at::Tensor> pool(const at::Tensor& images, int64_t kernel, int64_t stride, int64_t padding);
"""

_pool = load_inline(name="pool_tile_shared", cpp_sources=[CPP_SRC], cuda_sources=[CUDA_SRC], functions=["pool"],
                    extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, kernel: int, stride: int, padding: int):
        super().__init__()
        self.window = (kernel, stride, padding)

    def forward(self, images: torch.Tensor):
        return _pool.pool(images.contiguous(), *self.window)

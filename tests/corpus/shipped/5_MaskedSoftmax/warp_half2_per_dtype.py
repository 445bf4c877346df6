# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# One source, one build per element type: SCALAR, PAIR and the conversions are filled in below.
TEMPLATE = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

static constexpr unsigned kAll = 0xffffffffu;
static constexpr int kRowsPerBlock = 4;

static __device__ __forceinline__ float2 to_floats(PAIR p) { return TO_FLOAT2(p); }
static __device__ __forceinline__ PAIR from_floats(float a, float b) { return FROM_FLOATS(a, b); }
static __device__ __forceinline__ float to_float(SCALAR s) { return TO_FLOAT(s); }
static __device__ __forceinline__ SCALAR from_float(float a) { return FROM_FLOAT(a); }

// A warp per row. Rows start on an even element only if the number of keys is even: then pairs.
template <bool kPairs>
__global__ void softmax_warp(const SCALAR* __restrict__ scores, const bool* __restrict__ keep,
                             SCALAR* __restrict__ out, long rows, long rows_per_batch, int keys, float scale) {
  const long row = (long)blockIdx.x * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;
  const int lane = threadIdx.x;
  const SCALAR* src = scores + row * keys;
  SCALAR* dst = out + row * keys;
  const bool* mask = keep + row / rows_per_batch * keys;

  // online: running maximum and sum per lane
  float top = -INFINITY, sum = 0.f;
  auto take = [&](float v, bool kept) {
    if (!kept) return;
    v *= scale;
    if (v == -INFINITY) return;
    if (v > top) {
      sum = sum * __expf(top - v) + 1.f;
      top = v;
    } else {
      sum += __expf(v - top);
    }
  };
  if (kPairs) {
    const PAIR* pairs = reinterpret_cast<const PAIR*>(src);
    for (int i = lane; i < keys / 2; i += 32) {
      const float2 v = to_floats(pairs[i]);
      take(v.x, mask[2 * i]);
      take(v.y, mask[2 * i + 1]);
    }
  } else {
    for (int k = lane; k < keys; k += 32) take(to_float(src[k]), mask[k]);
  }

  float row_top = top;
  for (int o = 16; o; o /= 2) row_top = fmaxf(row_top, __shfl_xor_sync(kAll, row_top, o));
  sum = top == -INFINITY ? 0.f : sum * __expf(top - row_top);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(kAll, sum, o);
  const float inv = 1.f / sum;

  auto weight = [&](float v, bool kept) { return kept ? __expf(v * scale - row_top) * inv : 0.f; };
  if (kPairs) {
    const PAIR* pairs = reinterpret_cast<const PAIR*>(src);
    PAIR* to = reinterpret_cast<PAIR*>(dst);
    for (int i = lane; i < keys / 2; i += 32) {
      const float2 v = to_floats(pairs[i]);
      to[i] = from_floats(weight(v.x, mask[2 * i]), weight(v.y, mask[2 * i + 1]));
    }
  } else {
    for (int k = lane; k < keys; k += 32) dst[k] = from_float(weight(to_float(src[k]), mask[k]));
  }
}

torch::Tensor run(torch::Tensor scores, torch::Tensor keep, double scale) {
  const int keys = scores.size(-1);
  const long rows = scores.numel() / keys;
  const long rows_per_batch = rows / keep.size(0);
  auto out = torch::empty_like(scores);
  const dim3 block(32, kRowsPerBlock);
  const unsigned grid = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  auto stream = c10::cuda::getCurrentCUDAStream().stream();
  auto src = reinterpret_cast<const SCALAR*>(scores.data_ptr());
  auto dst = reinterpret_cast<SCALAR*>(out.data_ptr());
  auto kernel = keys % 2 == 0 ? softmax_warp<true> : softmax_warp<false>;
  kernel<<<grid, block, 0, stream>>>(src, keep.data_ptr<bool>(), dst, rows, rows_per_batch, keys, scale);
  return out;
}
"""

TYPES = {
    torch.float16: dict(
        SCALAR="__half", PAIR="__half2", TO_FLOAT2="__half22float2", FROM_FLOATS="__floats2half2_rn",
        TO_FLOAT="__half2float", FROM_FLOAT="__float2half",
    ),
    torch.bfloat16: dict(
        SCALAR="__nv_bfloat16", PAIR="__nv_bfloat162", TO_FLOAT2="__bfloat1622float2",
        FROM_FLOATS="__floats2bfloat162_rn", TO_FLOAT="__bfloat162float", FROM_FLOAT="__float2bfloat16",
    ),
    torch.float32: dict(
        SCALAR="float", PAIR="float2", TO_FLOAT2="", FROM_FLOATS="make_float2", TO_FLOAT="", FROM_FLOAT="",
    ),
}

_loaded = {}


def _extension(dtype):
    if dtype not in _loaded:
        source = TEMPLATE
        # Longest names first: TO_FLOAT is the beginning of TO_FLOAT2.
        for name in sorted(TYPES[dtype], key=len, reverse=True):
            source = source.replace(name, TYPES[dtype][name])
        _loaded[dtype] = load_inline(
            name="masked_softmax_" + str(dtype).split(".")[-1],
            cpp_sources="torch::Tensor run(torch::Tensor scores, torch::Tensor keep, double scale);",
            cuda_sources=source,
            functions=["run"],
            extra_cuda_cflags=["-O3"],
        )
    return _loaded[dtype]


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        _extension(torch.float16)

    def forward(self, scores, keep):
        return _extension(scores.dtype).run(scores.contiguous(), keep.contiguous(), self.scale)

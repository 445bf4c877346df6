// SPDX-License-Identifier: MIT
// kernels: reduced; multiplied; pairs
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
using BlockReduce = cub::BlockReduce<float, 128>;
__device__ __forceinline__ float sum(cg::thread_block_tile<32> const& tile, float v) {
  return cg::reduce(tile, v, cg::plus<float>());
}
struct Shared { typename BlockReduce::TempStorage reduce; float total; };
__global__ void reduced(float* x, int n) {
  __shared__ Shared s;
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float v = BlockReduce(s.reduce).Sum(sum(tile, x[threadIdx.x]));
  v = BlockReduce(s.reduce).Reduce(v, [] __device__ (float a, float b) { return fmaxf(a, b); });
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) x[0] = v;
  grid.sync();
}
__global__ void multiplied(const half* a, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void pairs(__nv_bfloat162* x) {
  x[0] = __hmul2(x[0], x[1]);
  x[1] = x[0] + x[1];
  asm volatile("cp.async.commit_group;\n" ::: "memory");
  __pipeline_commit();
  assert(threadIdx.x < 32);
  printf("%d\n", 1);
}
void all(float* x, torch::Tensor t) {
  int n = 3;
  void* args[] = {&x, &n};
  cudaLaunchCooperativeKernel((void*)reduced, 1, 128, args);
  multiplied<<<1, 32>>>(reinterpret_cast<const half*>(t.data_ptr<at::Half>()), x);
  pairs<<<1, 1>>>((__nv_bfloat162*)x);
}

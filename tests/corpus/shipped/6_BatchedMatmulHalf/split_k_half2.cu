// SPDX-License-Identifier: MIT
// Small outputs, long inner dimension: K is cut into chunks, every chunk gets its own blocks, and
// their sums meet in a float buffer by atomicAdd. Within a chunk products are accumulated with HFMA2
// over four values of k (two roundings to half, whatever the inputs' tails are) and moved to float.
#include <torch/extension.h>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 32
#define PAIRS 8            // half2 per step: 16 values of k
#define K_PER_BLOCK 512

__global__ void split_k_products(const __half *left, const __half *right, float *acc, int M, int K, int N,
                                 int chunks)
{
    __shared__ __half2 a[TILE][PAIRS + 1];
    __shared__ __half2 b[TILE][PAIRS + 1];

    const int batch = blockIdx.z / chunks;
    const int chunk = blockIdx.z % chunks;
    const int k_begin = chunk * K_PER_BLOCK;
    const int k_end = min(k_begin + K_PER_BLOCK, K);
    const int m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE;
    const int tx = threadIdx.x, ty = threadIdx.y;   // 32 x 8
    const int tid = ty * 32 + tx;

    left += (size_t)batch * M * K;
    right += (size_t)batch * K * N;
    acc += (size_t)batch * M * N;

    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const __half zero = __ushort_as_half(0);

    for (int k0 = k_begin; k0 < k_end; k0 += 2 * PAIRS) {
        // 256 threads, 256 pairs of each operand.
        {
            const int m = m0 + tid / PAIRS, k = k0 + 2 * (tid % PAIRS);
            const __half lo = (m < M && k < k_end) ? left[(size_t)m * K + k] : zero;
            const __half hi = (m < M && k + 1 < k_end) ? left[(size_t)m * K + k + 1] : zero;
            a[tid / PAIRS][tid % PAIRS] = __halves2half2(lo, hi);
        }
        {
            const int n = n0 + tx, k = k0 + 2 * ty;
            const __half lo = (n < N && k < k_end) ? right[(size_t)k * N + n] : zero;
            const __half hi = (n < N && k + 1 < k_end) ? right[(size_t)(k + 1) * N + n] : zero;
            b[tx][ty] = __halves2half2(lo, hi);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < 4; ++r) {
#pragma unroll
            for (int p = 0; p < PAIRS; p += 2) {
                const __half2 s = __hfma2(a[ty + 8 * r][p + 1], b[tx][p + 1],
                                          __hmul2(a[ty + 8 * r][p], b[tx][p]));
                sums[r] += __low2float(s) + __high2float(s);
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int m = m0 + ty + 8 * r, n = n0 + tx;
        if (m < M && n < N) atomicAdd(acc + (size_t)m * N + n, sums[r]);
    }
}

__global__ void to_half(const float *acc, __half *out, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(acc[i]);
}

torch::Tensor forward(torch::Tensor left, torch::Tensor right)
{
    TORCH_CHECK(left.dim() == 3 && right.dim() == 3, "expected two batches of matrices");
    left = left.contiguous();
    right = right.contiguous();
    const int B = left.size(0), M = left.size(1), K = left.size(2), N = right.size(2);
    const int chunks = (K + K_PER_BLOCK - 1) / K_PER_BLOCK;

    auto acc = torch::zeros({B, M, N}, left.options().dtype(torch::kFloat));
    auto out = torch::empty({B, M, N}, left.options());

    const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, B * chunks);
    split_k_products<<<grid, dim3(32, 8)>>>(reinterpret_cast<const __half *>(left.data_ptr<c10::Half>()),
                                           reinterpret_cast<const __half *>(right.data_ptr<c10::Half>()),
                                           acc.data_ptr<float>(), M, K, N, chunks);
    const size_t n = acc.numel();
    to_half<<<(n + 255) / 256, 256>>>(acc.data_ptr<float>(), reinterpret_cast<__half *>(out.data_ptr<c10::Half>()),
                                      n);
    return out;
}

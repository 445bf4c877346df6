// SPDX-License-Identifier: MIT
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

/*
 * Inclusive scan along dim 1 in three steps:
 *   1. every block scans 1024 elements of a row (Hillis-Steele in shared memory, two buffers)
 *      and writes down its total,
 *   2. one thread per row runs over the totals,
 *   3. every element gets the total of what lies left of its block.
 */

#define CHUNK 1024

#define CUDA_OK(call)                                                                     \
    do {                                                                                  \
        cudaError_t status = (call);                                                      \
        TORCH_CHECK(status == cudaSuccess, #call, " failed: ", cudaGetErrorString(status)); \
    } while (0)

__global__ void scan_chunks(const float* x, float* y, float* totals, int cols, int chunks) {
    __shared__ float buffer[2][CHUNK];
    const int row = blockIdx.x;
    const int chunk = blockIdx.y;
    const int t = threadIdx.x;
    const int col = chunk * CHUNK + t;

    int from = 0;
    buffer[0][t] = col < cols ? x[(long long)row * cols + col] : 0.0f;
    __syncthreads();
    for (int step = 1; step < CHUNK; step *= 2) {
        const int to = 1 - from;
        buffer[to][t] = t >= step ? buffer[from][t] + buffer[from][t - step] : buffer[from][t];
        from = to;
        __syncthreads();
    }
    if (col < cols) y[(long long)row * cols + col] = buffer[from][t];
    if (t == CHUNK - 1) totals[row * chunks + chunk] = buffer[from][t];
}

__global__ void scan_totals(float* totals, int rows, int chunks) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float running = 0.0f;
    for (int c = 0; c < chunks; c++) {
        const float here = totals[row * chunks + c];
        totals[row * chunks + c] = running;
        running += here;
    }
}

__global__ void add_offsets(float* y, const float* totals, int cols, int chunks) {
    const int row = blockIdx.x;
    const int col = blockIdx.y * CHUNK + threadIdx.x;
    if (col < cols) y[(long long)row * cols + col] += totals[row * chunks + blockIdx.y];
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    const int rows = x.size(0);
    const int cols = x.size(1);
    const int chunks = (cols + CHUNK - 1) / CHUNK;
    torch::Tensor y = torch::empty_like(x);

    float* totals = nullptr;
    CUDA_OK(cudaMalloc(&totals, sizeof(float) * rows * chunks));

    const dim3 grid(rows, chunks);
    scan_chunks<<<grid, CHUNK>>>(x.data_ptr<float>(), y.data_ptr<float>(), totals, cols, chunks);
    scan_totals<<<(rows + 63) / 64, 64>>>(totals, rows, chunks);
    add_offsets<<<grid, CHUNK>>>(y.data_ptr<float>(), totals, cols, chunks);
    CUDA_OK(cudaGetLastError());

    CUDA_OK(cudaFree(totals));
    return y;
}

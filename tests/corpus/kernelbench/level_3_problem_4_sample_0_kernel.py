# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

lenet_cpp = """
torch::Tensor conv5_relu_pool(torch::Tensor x, torch::Tensor w, torch::Tensor b);
torch::Tensor dense(torch::Tensor x, torch::Tensor w, torch::Tensor b, bool relu);
"""

lenet_cuda = """
#include <torch/extension.h>
#include <cuda_runtime.h>

#define K 5

/* One block per image. The image and all filters fit into shared memory.
 * Each thread makes pooled outputs: the largest of four neighbouring 5x5 products, then ReLU
 * (max and ReLU commute). */
__global__ void conv5_relu_pool_kernel(const float *x, const float *w, const float *b, float *y,
                                       int cin, int h, int wd, int cout)
{
    extern __shared__ float sm[];
    float *img = sm;                       /* cin * h * wd */
    float *flt = sm + cin * h * wd;        /* cout * cin * 25 */
    const int ph = (h - K + 1) / 2, pw = (wd - K + 1) / 2;
    const float *src = x + (size_t)blockIdx.x * cin * h * wd;
    int i;

    for (i = threadIdx.x; i < cin * h * wd; i += blockDim.x) img[i] = src[i];
    for (i = threadIdx.x; i < cout * cin * K * K; i += blockDim.x) flt[i] = w[i];
    __syncthreads();

    for (i = threadIdx.x; i < cout * ph * pw; i += blockDim.x) {
        const int oc = i / (ph * pw);
        const int oy = i % (ph * pw) / pw * 2;
        const int ox = i % pw * 2;
        float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
        for (int c = 0; c < cin; c++) {
            for (int ky = 0; ky < K; ky++) {
                for (int kx = 0; kx < K; kx++) {
                    const float f = flt[((oc * cin + c) * K + ky) * K + kx];
                    const float *p = img + (c * h + oy + ky) * wd + ox + kx;
                    s00 += f * p[0];
                    s01 += f * p[1];
                    s10 += f * p[wd];
                    s11 += f * p[wd + 1];
                }
            }
        }
        const float best = fmaxf(fmaxf(s00, s01), fmaxf(s10, s11)) + b[oc];
        y[(size_t)blockIdx.x * cout * ph * pw + i] = fmaxf(best, 0.0f);
    }
}

/* A warp per output neuron, 8 samples per warp so that a weight is read once for them. */
#define SAMPLES 8
__global__ void dense_kernel(const float *x, const float *w, const float *b, float *y, int rows, int in, int out, int relu)
{
    const int neuron = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int r0 = blockIdx.y * SAMPLES;
    if (neuron >= out) return;
    float acc[SAMPLES];
    for (int s = 0; s < SAMPLES; s++) acc[s] = 0;
    for (int i = lane; i < in; i += 32) {
        const float wi = w[neuron * in + i];
        for (int s = 0; s < SAMPLES; s++)
            if (r0 + s < rows) acc[s] += wi * x[(size_t)(r0 + s) * in + i];
    }
    for (int s = 0; s < SAMPLES; s++) {
        for (int o = 16; o > 0; o >>= 1) acc[s] += __shfl_down_sync(0xffffffff, acc[s], o);
        if (lane == 0 && r0 + s < rows) {
            float v = acc[s] + b[neuron];
            y[(size_t)(r0 + s) * out + neuron] = relu && v < 0 ? 0 : v;
        }
    }
}

torch::Tensor conv5_relu_pool(torch::Tensor x, torch::Tensor w, torch::Tensor b)
{
    x = x.contiguous();
    const int n = x.size(0), cin = x.size(1), h = x.size(2), wd = x.size(3), cout = w.size(0);
    auto y = torch::empty({n, cout, (h - K + 1) / 2, (wd - K + 1) / 2}, x.options());
    const int bytes = (cin * h * wd + cout * cin * K * K) * sizeof(float);
    cudaFuncSetAttribute((const void *)conv5_relu_pool_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    conv5_relu_pool_kernel<<<n, 256, bytes>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), cin, h, wd, cout);
    return y;
}

torch::Tensor dense(torch::Tensor x, torch::Tensor w, torch::Tensor b, bool relu)
{
    const int rows = x.size(0), in = x.size(1), out = w.size(0);
    auto y = torch::empty({rows, out}, x.options());
    const dim3 grid((out + 3) / 4, (rows + SAMPLES - 1) / SAMPLES);
    dense_kernel<<<grid, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), rows, in, out, relu ? 1 : 0);
    return y;
}
"""

lenet = load_inline(name="lenet5_kernels", cpp_sources=lenet_cpp, cuda_sources=lenet_cuda,
                    functions=["conv5_relu_pool", "dense"], verbose=False)


class ModelNew(nn.Module):
    def __init__(self, num_classes):
        super(ModelNew, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x):
        x = lenet.conv5_relu_pool(x, self.conv1.weight, self.conv1.bias)
        x = lenet.conv5_relu_pool(x, self.conv2.weight, self.conv2.bias)
        x = x.view(-1, 16 * 5 * 5)
        x = lenet.dense(x, self.fc1.weight, self.fc1.bias, True)
        x = lenet.dense(x, self.fc2.weight, self.fc2.bias, True)
        return lenet.dense(x, self.fc3.weight, self.fc3.bias, False)

// SPDX-License-Identifier: MIT
// Every step of the formula as its own kernel, with the intermediates in global memory.
//@ dims x[R, C]
//@ let n = R * C
//@ let blocks = cdiv(n, 256)
//@ tmp gate: float32[R, C]
//@ tmp gated: float32[R, C]
//@ out y like x
//@ sigmoid<<<blocks, 256>>>(x, gate, alpha, n)
//@ multiply<<<blocks, 256>>>(x, gate, gated, n)
//@ soft_cap<<<blocks, 256>>>(gated, y, init.cap, n)

__global__ void sigmoid(const float* x, float* gate, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gate[i] = 1.0f / (1.0f + expf(-alpha * x[i]));
}

__global__ void multiply(const float* x, const float* gate, float* gated, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gated[i] = x[i] * gate[i];
}

__global__ void soft_cap(const float* gated, float* y, float cap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(gated[i] / cap);
}

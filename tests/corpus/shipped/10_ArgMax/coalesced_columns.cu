// SPDX-License-Identifier: MIT
// Argmax along dim 1. 32 neighbouring columns per block, 8 threads share a column.

#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace argmax {

constexpr int COLUMNS = 32;
constexpr int PARTS = 8;

struct Candidate {
	float value;
	int index;
};

// Ties go to the smaller index, as in torch.argmax on one thread.
__device__ __forceinline__ bool better(const Candidate& a, const Candidate& b)
{
	return a.value > b.value || (a.value == b.value && a.index < b.index);
}

__global__ void kernel(const float* __restrict__ x, int64_t* __restrict__ out, int dim, int inner)
{
	__shared__ Candidate shared[PARTS][COLUMNS];

	const int column = blockIdx.x * COLUMNS + threadIdx.x;
	const int64_t batch = blockIdx.y;
	Candidate best = {-INFINITY, 0x7fffffff};

	if (column < inner) {
		const float* p = x + batch * dim * inner + column;
		for (int d = threadIdx.y; d < dim; d += PARTS) {
			const Candidate c = {p[(int64_t)d * inner], d};
			if (better(c, best)) best = c;
		}
	}
	shared[threadIdx.y][threadIdx.x] = best;
	__syncthreads();

	if (threadIdx.y == 0 && column < inner) {
#pragma unroll
		for (int part = 1; part < PARTS; ++part) {
			const Candidate other = shared[part][threadIdx.x];
			if (better(other, best)) best = other;
		}
		out[batch * inner + column] = best.index;
	}
}

}  // namespace argmax

at::Tensor forward(const at::Tensor& x)
{
	TORCH_CHECK(x.dim() == 3 && x.scalar_type() == at::kFloat, "forward: a float tensor of three dimensions");
	c10::cuda::CUDAGuard guard(x.device());
	const at::Tensor input = x.contiguous();
	const int batch = input.size(0), dim = input.size(1), inner = input.size(2);
	at::Tensor out = at::empty({batch, inner}, input.options().dtype(at::kLong));

	dim3 block(argmax::COLUMNS, argmax::PARTS);
	dim3 grid((inner + argmax::COLUMNS - 1) / argmax::COLUMNS, batch);
	argmax::kernel<<<grid, block, 0, c10::cuda::getCurrentCUDAStream()>>>(
		input.data_ptr<float>(), out.data_ptr<int64_t>(), dim, inner);
	return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
	m.def("forward", &forward, "argmax along the middle dimension");
}

// SPDX-License-Identifier: MIT
// What host code for the CPU has in place of CUDA, what it may not do, and what is said of it.
#include <gmock/gmock.h>

#include <array>

#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

class HostCounterpart : public HostCompileTest {};

/// A forward for the CPU that does one thing more.
std::string forward_with(const std::string& head, const std::string& statement) {
  return head + "torch::Tensor forward(torch::Tensor x, double s) { " + statement +
         "; return x; }\n";
}

constexpr const char* kCpuCounterparts = R"(
#include <ATen/AccumulateType.h>  // has words in it that mean others in the candidate's own text
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
torch::Tensor forward(torch::Tensor x, double s) {
  CHECK_CUDA(x);
  TORCH_CHECK(x.device().type() == torch::kCUDA && x.device().type() == c10::DeviceType::CUDA);
  c10::cuda::CUDAGuard guard(x.device());
  const at::cuda::CUDAGuard by_index(x.get_device());
  auto stream = at::cuda::getStreamFromPool();
  c10::cuda::CUDAStreamGuard on(stream);
  auto y = torch::zeros({2, 2}, torch::dtype(torch::kFloat32).device(torch::kCUDA, x.get_device()));
  auto z = x.cuda().to(torch::kCUDA).contiguous();
  const int bytes = z.numel() * sizeof(float);
  float* copy = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&copy, bytes));
  cudaEvent_t start, stop;
  AT_CUDA_CHECK(cudaEventCreate(&start));
  AT_CUDA_CHECK(cudaEventCreate(&stop));
  cudaEventRecord(start, stream);
  C10_CUDA_CHECK(cudaMemcpyAsync(copy, z.data_ptr(), bytes, cudaMemcpyDeviceToDevice, stream.stream()));
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = -1;
  cudaEventElapsedTime(&ms, start, stop);
  TORCH_CHECK(ms >= 0);
  C10_CUDA_CHECK(cudaMemsetAsync(copy, 0, sizeof(float), stream));
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaStreamSynchronize(own);
  cudaStreamDestroy(own);
  const cudaDeviceProp* device = at::cuda::getCurrentDeviceProperties();
  cudaDeviceProp same;
  cudaGetDeviceProperties(&same, 0);
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  TORCH_CHECK(sms == device->multiProcessorCount && same.warpSize == 32);
  // Rows: y = z * copy is, in columns, y' = copy' * z'.
  const float one = 1, none = 0;
  TORCH_CUDABLAS_CHECK(cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2,
                                   &one, copy, 2, z.data_ptr<float>(), 2, &none, y.data_ptr<float>(), 2));
  TORCH_CUDABLAS_CHECK(cublasGemmEx(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 2,
                                    &one, copy, CUDA_R_32F, 2, z.data_ptr<float>(), CUDA_R_32F, 2, &one,
                                    y.data_ptr<float>(), CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  C10_CUDA_CHECK(cudaFree(copy));
  TORCH_CHECK(cudaFree(copy) != cudaSuccess && cudaGetLastError() == cudaErrorInvalidValue);
  TORCH_CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  return y;
}
)";

TEST_F(HostCounterpart, OnTheCpuTorchsAndCudasWordsForAGpuHaveCounterparts) {
  EXPECT_EQ(run_python(must_compile(request("torch::Tensor forward(torch::Tensor x, double s);\n",
                                            kCpuCounterparts)),
                       R"(
x = torch.tensor([[1., 2.], [3., 4.]])
copy = torch.tensor([[0., 2.], [3., 4.]])
print(torch.equal(m.forward(x, 1), x @ copy + x @ copy.t()), allocations)
)"),
            "True {}\n");
}

TEST_F(HostCounterpart, WhatLacksACounterpartOnTheCpuIsNamed) {
  const std::string context = "#include <ATen/cuda/CUDAContext.h>\n";
  for (const auto& [head, statement, name] : std::initializer_list<std::array<std::string, 3>>{
           {"#include <cublasLt.h>\n", "cublasLtHandle_t h; cublasLtCreate(&h)", "cublasLtCreate"},
           {"#include <cublas_v2.h>\n", "cublasSscal_v2_64(0, 1, 0, 0, 1)", "cublasSscal_v2_64"},
           {"#include <cusolverDn.h>\n", "cusolverDnCreate(nullptr)", "cusolverDnCreate"},
           {context, "at::cuda::getCurrentCUDASparseHandle()", "getCurrentCUDASparseHandle"},
           {context, "at::cuda::getCurrentCUDABlasLtHandle()", "getCurrentCUDABlasLtHandle"},
           {context, "at::cuda::getCurrentCUDASolverDnHandle()", "getCurrentCUDASolverDnHandle"},
           {context, "at::cuda::getPinnedMemoryAllocator()", "at::cuda::getPinnedMemoryAllocator"},
           {"#include <ATen/cuda/CUDASparseDescriptors.h>\n", "", "ATen/cuda/CUDASparse"}}) {
    const CompileError error = must_fail(request(forward_with(head, statement), ""));
    EXPECT_EQ(error.cause, "unsupported_on_cpu") << error.message << error.log;
    EXPECT_THAT(error.message, HasSubstr(name));
  }
}

TEST_F(HostCounterpart, WhatTorchLacksItselfIsTheCandidatesFault) {
  for (const std::string statement :
       {"at::cuda::getCurrentCUDASparrowHandle()", "c10::cuda::getStream()",
        "at::cuda::noSuchThing = 1", "cublasLtCrate(nullptr)"}) {
    const CompileError error =
        must_fail(request(forward_with("#include <ATen/cuda/CUDAContext.h>\n", statement), ""));
    EXPECT_EQ(error.cause, "syntax_error") << error.message;
    EXPECT_THAT(error.message, HasSubstr("line 2: "));
  }
}

}  // namespace
}  // namespace kbench

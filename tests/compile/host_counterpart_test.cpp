// SPDX-License-Identifier: MIT
// What host halves for the CPU may not do, and what is said of it.
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

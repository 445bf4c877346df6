// SPDX-License-Identifier: MIT
#include "compile/host/gone_names.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kbench {
namespace {

constexpr std::string_view kStream =
    "torch has THC no more: write at::cuda::getCurrentCUDAStream(), of <ATen/cuda/CUDAContext.h>";
constexpr std::string_view kContext = "torch has THC no more: include <ATen/cuda/CUDAContext.h>";

// The first row that matches counts.
constexpr GoneName kRows[] = {
    {{"DeprecatedTypeProperties", "ScalarType"},
     "torch takes a scalar type there: write x.scalar_type() instead of x.type()"},
    {{"DeprecatedTypeProperties", ""},
     "x.type() has lost its methods: write x.options() to make tensors like x, x.scalar_type() for "
     "the type, x.element_size() for its bytes"},
    {{"TypeMeta", "ScalarType"},
     "torch takes a scalar type there: write x.scalar_type() instead of x.dtype()"},
    {{"AT_CHECK", ""}, "torch has AT_CHECK no more: write TORCH_CHECK(condition, message)"},
    {{"THCudaCheck", ""},
     "torch has THC no more: write C10_CUDA_CHECK(call), of <c10/cuda/CUDAException.h>"},
    {{"THCState", ""}, kStream},
    {{"THCState_getCurrentStream", ""}, kStream},
    {{"getTHCState", ""}, kStream},
    {{"THC/THC.h", ""}, kContext},
    {{"THC/THCGeneral.h", ""}, kContext},
    {{"ATen/cuda/CUDAGuard.h", ""}, "include <c10/cuda/CUDAGuard.h>"},
    {{"ATen/cuda/CUDAStream.h", ""}, "include <c10/cuda/CUDAStream.h>"},
};

}  // namespace

std::span<const GoneName> gone_names() { return kRows; }

std::string_view instead_of_gone(std::string_view error) {
  const auto* row = std::ranges::find_if(kRows, [&](const GoneName& known) {
    return holds_word(error, known.words[0]) &&
           (known.words[1].empty() || holds_word(error, known.words[1]));
  });
  return row == std::end(kRows) ? std::string_view() : row->instead;
}

}  // namespace kbench

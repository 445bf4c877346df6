// SPDX-License-Identifier: MIT
#include "compile/host/gone_names.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kbench {
namespace {

constexpr std::string_view kStream =
    "torch no longer has THC: use at::cuda::getCurrentCUDAStream() from <ATen/cuda/CUDAContext.h>";
constexpr std::string_view kContext = "torch no longer has THC: include <ATen/cuda/CUDAContext.h>";

// The first row that matches is used.
constexpr GoneName kRows[] = {
    {{"DeprecatedTypeProperties", "ScalarType"},
     "torch expects a scalar type: use x.scalar_type() instead of x.type()"},
    {{"DeprecatedTypeProperties", ""},
     "x.type() no longer has methods: use x.options() to create tensors like x, x.scalar_type() "
     "for the type, x.element_size() for its bytes"},
    {{"TypeMeta", "ScalarType"},
     "torch expects a scalar type: use x.scalar_type() instead of x.dtype()"},
    {{"AT_CHECK", ""}, "torch no longer has AT_CHECK: use TORCH_CHECK(condition, message)"},
    {{"THCudaCheck", ""},
     "torch no longer has THC: use C10_CUDA_CHECK(call) from <c10/cuda/CUDAException.h>"},
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

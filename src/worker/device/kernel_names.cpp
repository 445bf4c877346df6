// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>

#include "worker/device/kernel_trace.hpp"

namespace kbench::worker {
namespace {

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

bool is_library_kernel(std::string_view name) {
  // Parts of kernel names in NVIDIA's libraries, torch (mangled), and inductor's own Triton
  // kernels.
  static constexpr std::string_view kParts[] = {
      "cublas",      "cudnn",          "cutlass",     "nvjet_",      "_xmma_",
      "cusparse",    "cusolver",       "cufft",       "curand",      "2at6native",
      "2at4cuda",    "at_cuda_detail", "triton_poi_", "triton_red_", "triton_per_",
      "triton_tem_", "triton_for_",    kFlushKernel,  kEmptyKernel};
  return contains_any(name, kParts);
}

bool computes_nothing(std::string_view name) {
  static constexpr std::string_view kParts[] = {"FillFunctor", "copy_kernel",
                                                "CatArrayBatchedCopy"};
  if (name == kFlushKernel || name == kEmptyKernel) return true;
  return name.find("2at6native") != std::string_view::npos && contains_any(name, kParts);
}

}  // namespace kbench::worker

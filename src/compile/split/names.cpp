// SPDX-License-Identifier: MIT
#include "compile/split/names.hpp"

#include <array>

#include "base/text.hpp"
#include "compile/headers/compatibility_headers.hpp"
#include "compile/split/launch.hpp"

namespace kbench {
namespace {

/// Members of std that the compatibility headers lack.
constexpr std::array<std::string_view, 46> kHostStd = {
    "string",        "vector",      "map",           "unordered_map", "set",
    "unordered_set", "deque",       "list",          "queue",         "stack",
    "optional",      "variant",     "any",           "function",      "mutex",
    "lock_guard",    "unique_lock", "scoped_lock",   "once_flag",     "call_once",
    "unique_ptr",    "shared_ptr",  "make_unique",   "make_shared",   "weak_ptr",
    "cout",          "cerr",        "endl",          "ostream",       "ostringstream",
    "stringstream",  "to_string",   "runtime_error", "exception",     "invalid_argument",
    "logic_error",   "thread",      "chrono",        "atomic",        "tuple",
    "make_tuple",    "string_view", "getenv",        "tie",           "random_device",
    "mt19937"};
constexpr std::array<std::string_view, 10> kHostWords = {
    "throw",  "try",    "catch", "fprintf", "stderr",
    "stdout", "getenv", "exit",  "abort",   "TensorOptions"};
constexpr std::array<std::string_view, 5> kHostStarts = {"AT_", "TORCH_", "PYBIND11_", "C10_CUDA_",
                                                         "NCCL"};
constexpr std::array<std::string_view, 8> kLibraryStarts = {
    "cublas", "cudnn", "cusparse", "cusolver", "cufft", "nccl", "curandGenerator", "curandCreate"};
/// Names of the CUDA runtime that device code may use.
constexpr std::array<std::string_view, 8> kDeviceRuntime = {
    "cudaTextureObject_t", "cudaSurfaceObject_t", "cudaRoundMode",   "cudaRoundNearest",
    "cudaRoundZero",       "cudaRoundPosInf",     "cudaRoundMinInf", "cudaError_enum"};
constexpr std::array<std::string_view, 2> kDeviceRuntimeStarts = {
    "cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"};
/// Names of torch that device code may use; keep in step with headers/torch.cuh and torch_half.cuh.
constexpr std::array<std::string_view, 26> kShimmedTorch = {"Half",
                                                            "BFloat16",
                                                            "acc_type",
                                                            "opmath_type",
                                                            "PackedTensorAccessor32",
                                                            "PackedTensorAccessor64",
                                                            "PackedTensorAccessor",
                                                            "GenericPackedTensorAccessor",
                                                            "TensorAccessor",
                                                            "RestrictPtrTraits",
                                                            "DefaultPtrTraits",
                                                            "numeric_limits",
                                                            "OpMathType",
                                                            "detail",
                                                            "native",
                                                            "compat",
                                                            "cuda",
                                                            "ceil_div",
                                                            "div_up",
                                                            "maybe_unused",
                                                            "load",
                                                            "Float8_e4m3fn",
                                                            "Float8_e5m2",
                                                            "guts",
                                                            "scalar_value_type",
                                                            "vec"};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool is_runtime_name(std::string_view word) {
  if (is_one_of(word, kDeviceRuntime) || starts_with_any(word, kDeviceRuntimeStarts)) return false;
  if (word.size() > 4 && word.starts_with("cuda") && is_upper(word[4])) return true;
  if (starts_with_any(word, kLibraryStarts)) return true;
  // The driver's own names follow; those of cuComplex.h are device code.
  if (word.starts_with("cuC") || word.starts_with("cuFloat") || word.starts_with("cuDouble")) {
    return false;
  }
  if (word.size() > 2 && word.starts_with("cu") && is_upper(word[2])) return true;
  constexpr std::array<std::string_view, 6> kDriver = {"CUfunction", "CUmodule",    "CUstream",
                                                       "CUcontext",  "CUdeviceptr", "CUresult"};
  return is_one_of(word, kDriver);
}

bool is_torch_name(const SourceText& text, std::size_t at) {
  const std::string_view word = text[at].text;
  if (word != "torch" && word != "at" && word != "c10") return false;
  if (at > 0 && (text.is(at - 1, ".") || text.is(at - 1, "->"))) return false;
  if (at > 0 && text.is(at - 1, "namespace")) return true;
  if (!text.is(at + 1, "::")) return false;
  if (is_one_of(text[at + 2].text, kShimmedTorch)) {
    // at::cuda::getCurrentCUDAStream is host code, c10::cuda::compat is not.
    return text.is(at + 2, "cuda") && !text.is(at + 4, "compat");
  }
  return true;
}

bool is_host_name(const SourceText& text, std::size_t at) {
  const std::string_view word = text[at].text;
  if (is_torch_name(text, at) || is_runtime_name(word)) return true;
  if (is_one_of(word, kHostWords) || starts_with_any(word, kHostStarts)) return true;
  if (!text.is(at + 1, "::")) return false;
  if (word == "py" || word == "pybind11" || word == "thrust") return true;
  return word == "std" && is_one_of(text[at + 2].text, kHostStd);
}

constexpr std::array<std::string_view, 6> kDeviceNamespaces = {
    "nvcuda", "wmma", "cub", "cg", "cooperative_groups", "cute"};
constexpr std::array<std::string_view, 30> kDeviceHeaders = {"cuda_fp16.h",
                                                             "cuda_bf16.h",
                                                             "cuda_fp8.h",
                                                             "cuda_fp6.h",
                                                             "cuda_fp4.h",
                                                             "mma.h",
                                                             "cooperative_groups.h",
                                                             "cuda_pipeline.h",
                                                             "cuda_pipeline_primitives.h",
                                                             "cuda_awbarrier.h",
                                                             "cuda_awbarrier_primitives.h",
                                                             "curand_kernel.h",
                                                             "math_constants.h",
                                                             "cuComplex.h",
                                                             "vector_types.h",
                                                             "vector_functions.h",
                                                             "device_atomic_functions.h",
                                                             "sm_60_atomic_functions.h",
                                                             "sm_61_intrinsics.h",
                                                             "sm_70_rt.h",
                                                             "sm_80_rt.h",
                                                             "sm_90_rt.h",
                                                             "device_double_functions.h",
                                                             "cuda_occupancy_device.h",
                                                             "curand_philox4x32_x.h",
                                                             "curand_uniform.h",
                                                             "curand_normal.h",
                                                             "sm_20_intrinsics.h",
                                                             "sm_30_intrinsics.h",
                                                             "sm_32_intrinsics.h"};
constexpr std::array<std::string_view, 5> kDeviceFolders = {"cooperative_groups/", "cub/", "cuda/",
                                                            "cute/", "cutlass/"};
constexpr std::array<std::string_view, 9> kDeviceOnlyHeaders = {"mma.h",
                                                                "cooperative_groups.h",
                                                                "cuda_pipeline.h",
                                                                "cuda_awbarrier.h",
                                                                "cuda_pipeline_primitives.h",
                                                                "cuda_awbarrier_primitives.h",
                                                                "device_functions.h",
                                                                "sm_61_intrinsics.h",
                                                                "device_atomic_functions.h"};
constexpr std::array<std::string_view, 6> kDeviceOnlyFolders = {
    "cooperative_groups/", "cub/", "cuda/barrier", "cuda/pipeline", "cute/", "cutlass/"};

}  // namespace

bool names_host(const SourceText& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i].is_identifier() && is_host_name(text, i)) return true;
  }
  return has_launch(text, begin, end);
}

bool is_host_word(std::string_view word) {
  return word == "torch" || word == "at" || word == "c10" || is_runtime_name(word) ||
         is_one_of(word, kHostWords);
}

bool names_device_library(const SourceText& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view word = text[i].text;
    if (!text[i].is_identifier()) continue;
    if (is_one_of(word, kDeviceNamespaces)) return true;
    const bool is_cuda =
        word == "cuda" && text.is(i + 1, "::") && (i == 0 || !text.is(i - 1, "::"));
    if (is_cuda && !text.is(i + 2, "std")) return true;
  }
  return false;
}

std::string included_header(const SourceToken& directive) {
  if (directive_name(directive) != "include") return {};
  const std::string_view text = directive.text;
  const std::size_t open = text.find_first_of("<\"");
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find(text[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string_view::npos) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

bool is_device_header(std::string_view header) {
  return is_one_of(header, kDeviceHeaders) || starts_with_any(header, kDeviceFolders);
}

bool is_device_only_header(std::string_view header) {
  return is_one_of(header, kDeviceOnlyHeaders) || starts_with_any(header, kDeviceOnlyFolders);
}

HostLibrary unsplittable_library(const SourceText& text, std::size_t at) {
  const std::string_view word = text[at].text;
  if (!text.is(at + 1, "::")) return {};
  if (word == "thrust") return {"thrust", "host code that calls thrust needs nvcc"};
  if (word == "cub" && text[at + 2].text.starts_with("Device")) {
    return {"cub_device", "host code that calls cub's device-wide algorithms needs nvcc"};
  }
  if (word == "cutlass") return {"cutlass", "host code that uses CUTLASS needs nvcc"};
  return {};
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
//
// The header that all host code is compiled with, precompiled once per torch, compiler and device
// class. The file that includes it defines:
//   KBENCH_HOST_CPU    for candidates that will run on the CPU: emulates CUDA's runtime
//   KBENCH_HOST_HEAVY  all of torch/extension.h instead of its common part
#pragma once

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// GCC emits every static function that is not inline, even an unused one, unless it optimises.
// CUDA's headers have hundreds.
#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("O1")
#endif
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#ifndef __clang__
#pragma GCC pop_options
#endif

// pybind11 hides its namespace, but here one library exports its functions for all candidates.
// (With GCC there is no such library; each candidate contains them.)
#ifdef __clang__
#define PYBIND11_NAMESPACE pybind11
#endif
#include <pybind11/detail/common.h>
// Before pybind11 3.0, modules see torch's types only if both have the same compiler name, although
// the layouts of clang and GCC are the same.
#if defined(__clang__) && PYBIND11_VERSION_MAJOR < 3
#define PYBIND11_COMPILER_TYPE "_gcc"
#endif

// GCC compiles the headers' code again for each candidate, so each header costs time.
// custom_function.h takes a tenth of it, so only sources that name autograd include it (preamble()
// in compile/host/source.cpp). These static templates are declared inline before torch's headers,
// so that GCC does not emit them.
#ifndef __clang__
namespace c10 {
namespace detail {
struct ListImpl;
}
template <typename T>
static inline T createVectorLikeFromList(const detail::ListImpl* impl);
template <typename T>
static inline std::vector<T> createVectorFromList(const detail::ListImpl* impl);
}  // namespace c10
#endif

#if KBENCH_HOST_HEAVY
#include <torch/extension.h>
#else
// All but torch::nn, optim, jit, data and serialize, which together take longer to parse than the
// rest.
#include <torch/cuda.h>
#include <torch/enum.h>
#include <torch/fft.h>
#include <torch/nested.h>
#include <torch/sparse.h>
#include <torch/special.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
//
#include <ATen/Dispatch.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>
#ifdef __clang__
#include <torch/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#endif
#endif

#if KBENCH_HOST_CPU
#include "kbench_cpu.hpp"
#else
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include "kbench_split.hpp"

// SPDX-License-Identifier: MIT
//
// What the host half of a candidate is compiled on top of, precompiled once per torch, compiler and
// device class. The file that includes it says which:
//   KBENCH_HOST_CPU    the candidate will run on the CPU: own counterparts of CUDA's runtime
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

// GCC emits every static function that is not inline, used or not, but for those that are
// optimised; CUDA's headers hold hundreds.
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

// pybind11 hides its namespace; here its functions are to be exported by one library for all
// candidates. (GCC has no such library: it puts them into each.)
#ifdef __clang__
#define PYBIND11_NAMESPACE pybind11
#endif
#include <pybind11/detail/common.h>
// Before pybind11 3.0 the compiler's name kept modules from seeing torch's types, though clang's
// and GCC's layouts are the same.
#if defined(__clang__) && PYBIND11_VERSION_MAJOR < 3
#define PYBIND11_COMPILER_TYPE "_gcc"
#endif

// GCC compiles what the headers hold for each candidate anew, so that there each header counts:
// custom_function.h is a tenth of it, and comes with the texts that speak of it (host_source.cpp).
// Declared inline ahead of torch, these static templates are as many functions less.
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
// All but torch::nn, optim, jit, data and serialize, which take longer to parse than the rest.
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

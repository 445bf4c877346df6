// SPDX-License-Identifier: MIT
// The content of the compatibility headers for device code, C++14 and later. Types equal those of
// CUDA's own headers for NVRTC (where int64_t is long long), because both may declare them.
#pragma once
#include <kbench/types.h>
#include <kbench/limits.h>
#include <kbench/math.h>
#include <kbench/traits.h>
#include <kbench/numeric_limits.h>
#include <kbench/algorithm.h>
template <typename Kernel> __device__ char kbench_parameters_of;
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif

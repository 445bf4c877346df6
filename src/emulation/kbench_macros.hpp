// SPDX-License-Identifier: MIT
//
// Macros for the candidate's text, included after the candidate's headers, because headers use some
// of these words.
#pragma once

#define TORCH_EXTENSION_NAME kbench_extension
#define TORCH_API_INCLUDE_EXTENSION_H

#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)

// CUDA's headers define these for compilers other than nvcc.
#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __block_size__
#undef __maxnreg__
#undef __grid_constant__
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __grid_constant__

#if KBENCH_HOST_CPU
// Torch's GPU names become CPU names: member functions, constants and enumerators.
#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU
#define cuda() cpu()
#endif

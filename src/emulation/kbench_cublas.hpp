// SPDX-License-Identifier: MIT
//
// Signatures of the cuBLAS products that cpu_blas.cpp emulates on the CPU. All of cuBLAS is
// declared as by NVIDIA, so the linker's error names a function without emulation.
#pragma once

#include <cublas_v2.h>

#define KBENCH_GEMM_SIZES \
  cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k
#define KBENCH_GEMM(T)                                                                        \
  KBENCH_GEMM_SIZES, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, \
      T *c, int ldc
#define KBENCH_GEMM_STRIDED(T)                                                                     \
  KBENCH_GEMM_SIZES, const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb, \
      long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int count

// SPDX-License-Identifier: MIT
//
// The part of cuBLAS that has a counterpart on the CPU (cpu_blas.cpp): products of matrices and the
// simplest operations on vectors. Matrices lie in columns.
#pragma once

#include <cuda_fp16.h>
#include <library_types.h>

#include "kbench_runtime.hpp"

using cublasHandle_t = struct cublasContext*;

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
constexpr cublasGemmAlgo_t CUBLAS_GEMM_DFALT = CUBLAS_GEMM_DEFAULT;
constexpr cublasGemmAlgo_t CUBLAS_GEMM_DFALT_TENSOR_OP = CUBLAS_GEMM_DEFAULT_TENSOR_OP;

extern "C" {
KBENCH_HIDDEN cublasStatus_t cublasCreate(cublasHandle_t* handle);
KBENCH_HIDDEN cublasStatus_t cublasDestroy(cublasHandle_t handle);
KBENCH_HIDDEN cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
KBENCH_HIDDEN cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
KBENCH_HIDDEN cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
KBENCH_HIDDEN cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
KBENCH_HIDDEN cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace,
                                                size_t bytes);
KBENCH_HIDDEN const char* cublasGetStatusString(cublasStatus_t status);

#define KBENCH_GEMM_SIZES \
  cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k
#define KBENCH_GEMM(T)                                                                        \
  KBENCH_GEMM_SIZES, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, \
      T *c, int ldc
#define KBENCH_GEMM_STRIDED(T)                                                                     \
  KBENCH_GEMM_SIZES, const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb, \
      long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int count

KBENCH_HIDDEN cublasStatus_t cublasSgemm(KBENCH_GEMM(float));
KBENCH_HIDDEN cublasStatus_t cublasDgemm(KBENCH_GEMM(double));
KBENCH_HIDDEN cublasStatus_t cublasHgemm(KBENCH_GEMM(__half));
KBENCH_HIDDEN cublasStatus_t cublasSgemmStridedBatched(KBENCH_GEMM_STRIDED(float));
KBENCH_HIDDEN cublasStatus_t cublasDgemmStridedBatched(KBENCH_GEMM_STRIDED(double));
KBENCH_HIDDEN cublasStatus_t cublasHgemmStridedBatched(KBENCH_GEMM_STRIDED(__half));
KBENCH_HIDDEN cublasStatus_t cublasGemmEx(KBENCH_GEMM_SIZES, const void* alpha, const void* a,
                                          cudaDataType type_a, int lda, const void* b,
                                          cudaDataType type_b, int ldb, const void* beta, void* c,
                                          cudaDataType type_c, int ldc, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
KBENCH_HIDDEN cublasStatus_t cublasGemmStridedBatchedEx(
    KBENCH_GEMM_SIZES, const void* alpha, const void* a, cudaDataType type_a, int lda,
    long long stride_a, const void* b, cudaDataType type_b, int ldb, long long stride_b,
    const void* beta, void* c, cudaDataType type_c, int ldc, long long stride_c, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
KBENCH_HIDDEN cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                                         const float* alpha, const float* a, int lda,
                                         const float* x, int step_x, const float* beta, float* y,
                                         int step_y);
KBENCH_HIDDEN cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha,
                                         const float* x, int step_x, float* y, int step_y);
KBENCH_HIDDEN cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x,
                                         int step_x);
KBENCH_HIDDEN cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int step_x,
                                        const float* y, int step_y, float* result);
}

#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream

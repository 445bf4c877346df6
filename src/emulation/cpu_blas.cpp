// SPDX-License-Identifier: MIT
//
// CPU emulation of cuBLAS by torch's own products. A column-major matrix is the transpose of a
// row-major one, so C = op(A) op(B) is computed as its transpose, op(B)' op(A)'.
#include "kbench_cpu.hpp"

namespace {

std::optional<at::ScalarType> scalar_type(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return at::kHalf;
    case CUDA_R_16BF:
      return at::kBFloat16;
    case CUDA_R_32F:
      return at::kFloat;
    case CUDA_R_64F:
      return at::kDouble;
    default:
      return std::nullopt;
  }
}

/// Transposes of `count` column-major matrices op(M), as a tensor [count, columns, rows].
at::Tensor transposed(const void* data, cublasOperation_t op, std::int64_t rows,
                      std::int64_t columns, std::int64_t leading, std::int64_t stride,
                      std::int64_t count, at::ScalarType type) {
  // The sizes are those of op(M), so the matrix in memory has them exchanged if op transposes.
  const bool plain = op == CUBLAS_OP_N;
  const std::int64_t stored_columns = plain ? columns : rows;
  const std::int64_t stored_rows = plain ? rows : columns;
  const at::Tensor stored =
      at::from_blob(const_cast<void*>(data), {count, stored_columns, stored_rows},
                    {stride, leading, 1}, at::TensorOptions(type));
  return plain ? stored : stored.transpose(1, 2);
}

struct Matrix {
  const void* data;
  cudaDataType type;
  std::int64_t leading, stride;
};

double number(const void* value, at::ScalarType type) {
  if (type == at::kDouble) return *static_cast<const double*>(value);
  if (type == at::kHalf) return *static_cast<const at::Half*>(value);
  return *static_cast<const float*>(value);
}

/// `scale`: the type of alpha and beta. `compute`: the type of sums.
cublasStatus_t multiply(cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
                        std::int64_t n, std::int64_t k, const void* alpha, Matrix a, Matrix b,
                        const void* beta, Matrix c, std::int64_t count, at::ScalarType scale,
                        at::ScalarType compute) {
  const auto type_a = scalar_type(a.type);
  const auto type_b = scalar_type(b.type);
  const auto type_c = scalar_type(c.type);
  if (!type_a || !type_b || !type_c) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m < 0 || n < 0 || k < 0 || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const at::InferenceMode guard;
  at::Tensor out = transposed(c.data, CUBLAS_OP_N, m, n, c.leading, c.stride, count, *type_c);
  const at::Tensor left = transposed(b.data, op_b, k, n, b.leading, b.stride, count, *type_b);
  const at::Tensor right = transposed(a.data, op_a, m, k, a.leading, a.stride, count, *type_a);
  at::Tensor product = at::bmm(left.to(compute), right.to(compute)) * number(alpha, scale);
  const double keep = number(beta, scale);
  if (keep != 0) product += out.to(compute) * keep;  // C may be uninitialized if beta is 0
  out.copy_(product);
  return CUBLAS_STATUS_SUCCESS;
}

at::ScalarType scale_of(cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC) return at::kDouble;
  if (compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC) return at::kHalf;
  return at::kFloat;
}

at::ScalarType sums_of(at::ScalarType scale) {
  return scale == at::kDouble ? at::kDouble : at::kFloat;
}

template <typename T>
constexpr at::ScalarType kScale = c10::CppTypeToScalarType<T>::value;
template <>
constexpr at::ScalarType kScale<__half> = at::kHalf;
template <typename T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;

template <typename T>
cublasStatus_t gemm(KBENCH_GEMM_STRIDED(T)) {
  static_cast<void>(handle);
  return multiply(op_a, op_b, m, n, k, alpha, {a, kType<T>, lda, stride_a},
                  {b, kType<T>, ldb, stride_b}, beta, {c, kType<T>, ldc, stride_c}, count,
                  kScale<T>, sums_of(kScale<T>));
}

at::Tensor vector(const float* data, std::int64_t n, std::int64_t step) {
  return at::from_blob(const_cast<float*>(data), {n}, {step}, at::TensorOptions(at::kFloat));
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t* mode) {
  *mode = CUBLAS_DEFAULT_MATH;
  return CUBLAS_STATUS_SUCCESS;
}
// On the CPU, host pointers and device pointers are the same.
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an error of cuBLAS";
}

cublasStatus_t cublasSgemm(KBENCH_GEMM(float)) {
  return gemm<float>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
cublasStatus_t cublasDgemm(KBENCH_GEMM(double)) {
  return gemm<double>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
cublasStatus_t cublasHgemm(KBENCH_GEMM(__half)) {
  return gemm<__half>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
cublasStatus_t cublasSgemmStridedBatched(KBENCH_GEMM_STRIDED(float)) {
  return gemm<float>(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta,
                     c, ldc, stride_c, count);
}
cublasStatus_t cublasDgemmStridedBatched(KBENCH_GEMM_STRIDED(double)) {
  return gemm<double>(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta,
                      c, ldc, stride_c, count);
}
cublasStatus_t cublasHgemmStridedBatched(KBENCH_GEMM_STRIDED(__half)) {
  return gemm<__half>(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta,
                      c, ldc, stride_c, count);
}

cublasStatus_t cublasGemmStridedBatchedEx(KBENCH_GEMM_SIZES, const void* alpha, const void* a,
                                          cudaDataType type_a, int lda, long long stride_a,
                                          const void* b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void* beta, void* c,
                                          cudaDataType type_c, int ldc, long long stride_c,
                                          int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
  static_cast<void>(handle);
  const at::ScalarType scale = scale_of(compute);
  return multiply(op_a, op_b, m, n, k, alpha, {a, type_a, lda, stride_a},
                  {b, type_b, ldb, stride_b}, beta, {c, type_c, ldc, stride_c}, count, scale,
                  sums_of(scale));
}
cublasStatus_t cublasGemmEx(KBENCH_GEMM_SIZES, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                    type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t op, int m, int n, const float* alpha,
                           const float* a, int lda, const float* x, int step_x, const float* beta,
                           float* y, int step_y) {
  const at::InferenceMode guard;
  const bool plain = op == CUBLAS_OP_N;
  const at::Tensor matrix = transposed(a, CUBLAS_OP_N, m, n, lda, 0, 1, at::kFloat)[0];
  at::Tensor out = vector(y, plain ? m : n, step_y);
  const at::Tensor in = vector(x, plain ? n : m, step_x);
  at::Tensor product = at::mv(plain ? matrix.t() : matrix, in) * *alpha;
  if (*beta != 0) product += out * *beta;
  out.copy_(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSaxpy(cublasHandle_t, int n, const float* alpha, const float* x, int step_x,
                           float* y, int step_y) {
  for (std::int64_t i = 0; i < n; ++i) y[i * step_y] += *alpha * x[i * step_x];
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSscal(cublasHandle_t, int n, const float* alpha, float* x, int step_x) {
  for (std::int64_t i = 0; i < n; ++i) x[i * step_x] *= *alpha;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSdot(cublasHandle_t, int n, const float* x, int step_x, const float* y,
                          int step_y, float* result) {
  const at::InferenceMode guard;
  *result = at::dot(vector(x, n, step_x), vector(y, n, step_y)).item<float>();
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

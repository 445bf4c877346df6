// SPDX-License-Identifier: MIT
// The parts of torch's headers that device code uses: accessors, accumulator types, a few macros.
// Included only in device code that names them.
#pragma once
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE __forceinline__
#define C10_RESTRICT __restrict__
#define C10_UNUSED
#define C10_WARP_SIZE 32
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                    \
  int64_t _i_n_d_e_x = ((int64_t)blockIdx.x) * blockDim.x + threadIdx.x;                           \
  for (index_type i = _i_n_d_e_x; _i_n_d_e_x < (n);                                                \
       _i_n_d_e_x += ((int64_t)blockDim.x) * gridDim.x, i = _i_n_d_e_x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
template <typename T>
__device__ inline T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = 0xffffffffu) {
  return __shfl_sync(mask, value, lane, width);
}
template <typename T>
__device__ inline T WARP_SHFL_XOR(T value, int lanes, int width = 32,
                                  unsigned mask = 0xffffffffu) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
template <typename T>
__device__ inline T WARP_SHFL_DOWN(T value, unsigned lanes, int width = 32,
                                   unsigned mask = 0xffffffffu) {
  return __shfl_down_sync(mask, value, lanes, width);
}
template <typename T>
__device__ inline T WARP_SHFL_UP(T value, unsigned lanes, int width = 32,
                                 unsigned mask = 0xffffffffu) {
  return __shfl_up_sync(mask, value, lanes, width);
}
template <typename T> __device__ inline void gpuAtomicAdd(T* at, T value) { atomicAdd(at, value); }
template <typename T> __device__ inline void gpuAtomicAddNoReturn(T* at, T value) {
  atomicAdd(at, value);
}
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
namespace at {
template <typename T> struct DefaultPtrTraits { typedef T* PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T* __restrict__ PtrType; };
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = long>
class TensorAccessorBase {
 public:
  typedef typename PtrTraits<T>::PtrType PtrType;
  __host__ __device__ TensorAccessorBase(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ PtrType data() const { return data_; }
 protected:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = long>
class TensorAccessor : public TensorAccessorBase<T, N, PtrTraits, index_t> {
 public:
  using TensorAccessorBase<T, N, PtrTraits, index_t>::TensorAccessorBase;
  __host__ __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
    return TensorAccessor<T, N - 1, PtrTraits, index_t>(
        this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
  }
};
template <typename T, template <typename U> class PtrTraits, typename index_t>
class TensorAccessor<T, 1, PtrTraits, index_t>
    : public TensorAccessorBase<T, 1, PtrTraits, index_t> {
 public:
  using TensorAccessorBase<T, 1, PtrTraits, index_t>::TensorAccessorBase;
  __host__ __device__ T& operator[](index_t i) const { return this->data_[this->strides_[0] * i]; }
};
// Same members and order as torch's class, because kernels get it by value.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = long>
class GenericPackedTensorAccessor {
 public:
  typedef typename PtrTraits<T>::PtrType PtrType;
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](index_t i) {
    return TensorAccessor<T, N, PtrTraits, index_t>(data_, sizes_, strides_)[i];
  }
  __host__ __device__ decltype(auto) operator[](index_t i) const {
    return TensorAccessor<T, N, PtrTraits, index_t>(data_, sizes_, strides_)[i];
  }
 protected:
  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, long>;

template <typename T, bool kCuda> struct AccumulateType { using type = T; };
template <> struct AccumulateType<bool, true> { using type = bool; };
template <> struct AccumulateType<char, true> { using type = long; };
template <> struct AccumulateType<signed char, true> { using type = long; };
template <> struct AccumulateType<unsigned char, true> { using type = long; };
template <> struct AccumulateType<short, true> { using type = long; };
template <> struct AccumulateType<int, true> { using type = long; };
template <typename T, bool kCuda> using acc_type = typename AccumulateType<T, kCuda>::type;
template <typename T> struct OpMathType { using type = T; };
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T> struct numeric_limits {
  __host__ __device__ static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
  __host__ __device__ static constexpr T max() { return std::numeric_limits<T>::max(); }
  __host__ __device__ static constexpr T lower_bound() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : lowest();
  }
  __host__ __device__ static constexpr T upper_bound() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : max();
  }
};
template <typename T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <typename T> __host__ __device__ constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}
}  // namespace at
namespace torch {
using at::DefaultPtrTraits;
using at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
namespace headeronly {
using at::DefaultPtrTraits;
using at::RestrictPtrTraits;
}  // namespace headeronly
}  // namespace torch
namespace c10 { namespace cuda { namespace compat {
#define KBENCH_COMPAT(name)                                                                        \
  __device__ inline float name(float x) { return ::name##f(x); }                                   \
  __device__ inline double name(double x) { return ::name(x); }
KBENCH_COMPAT(exp) KBENCH_COMPAT(log) KBENCH_COMPAT(log1p) KBENCH_COMPAT(expm1)
KBENCH_COMPAT(sqrt) KBENCH_COMPAT(rsqrt) KBENCH_COMPAT(tanh) KBENCH_COMPAT(sin) KBENCH_COMPAT(cos)
KBENCH_COMPAT(tan) KBENCH_COMPAT(erf) KBENCH_COMPAT(erfc) KBENCH_COMPAT(ceil) KBENCH_COMPAT(floor)
KBENCH_COMPAT(round) KBENCH_COMPAT(trunc) KBENCH_COMPAT(normcdf)
#undef KBENCH_COMPAT
__device__ inline float abs(float x) { return ::fabsf(x); }
__device__ inline double abs(double x) { return ::fabs(x); }
__device__ inline float pow(float x, float y) { return ::powf(x, y); }
__device__ inline double pow(double x, double y) { return ::pow(x, y); }
__device__ inline float max(float x, float y) { return ::fmaxf(x, y); }
__device__ inline double max(double x, double y) { return ::fmax(x, y); }
__device__ inline float min(float x, float y) { return ::fminf(x, y); }
__device__ inline double min(double x, double y) { return ::fmin(x, y); }
__device__ inline float div(float x, float y) { return x / y; }
}}}  // namespace c10::cuda::compat

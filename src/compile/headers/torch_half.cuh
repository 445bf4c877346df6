// SPDX-License-Identifier: MIT
// c10::Half and c10::BFloat16 for device code, with torch's layout and conversions, and arithmetic
// in float. Included only in device code that names them.
#pragma once
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <kbench/torch.h>
namespace c10 {
#define KBENCH_HALF(Name, Native, from_float, to_float)                                            \
  struct alignas(2) Name {                                                                         \
    unsigned short x;                                                                              \
    struct from_bits_t {};                                                                         \
    __host__ __device__ static constexpr from_bits_t from_bits() { return from_bits_t(); }         \
    Name() = default;                                                                              \
    __host__ __device__ constexpr Name(unsigned short bits, from_bits_t) : x(bits) {}              \
    __device__ Name(float value) : x(__builtin_bit_cast(unsigned short, from_float(value))) {}     \
    __device__ Name(const Native& value) : x(__builtin_bit_cast(unsigned short, value)) {}         \
    __device__ operator float() const { return to_float(__builtin_bit_cast(Native, x)); }          \
    __device__ operator Native() const { return __builtin_bit_cast(Native, x); }                   \
  };                                                                                               \
  __device__ inline Name operator+(const Name& a, const Name& b) { return float(a) + float(b); }   \
  __device__ inline Name operator-(const Name& a, const Name& b) { return float(a) - float(b); }   \
  __device__ inline Name operator*(const Name& a, const Name& b) { return float(a) * float(b); }   \
  __device__ inline Name operator/(const Name& a, const Name& b) { return float(a) / float(b); }   \
  __device__ inline Name operator-(const Name& a) { return -float(a); }                            \
  __device__ inline Name& operator+=(Name& a, const Name& b) { return a = a + b; }                 \
  __device__ inline Name& operator-=(Name& a, const Name& b) { return a = a - b; }                 \
  __device__ inline Name& operator*=(Name& a, const Name& b) { return a = a * b; }                 \
  __device__ inline Name& operator/=(Name& a, const Name& b) { return a = a / b; }                 \
  __device__ inline float& operator+=(float& a, const Name& b) { return a += float(b); }           \
  __device__ inline float& operator-=(float& a, const Name& b) { return a -= float(b); }           \
  __device__ inline float& operator*=(float& a, const Name& b) { return a *= float(b); }           \
  __device__ inline float& operator/=(float& a, const Name& b) { return a /= float(b); }           \
  KBENCH_HALF_WITH(Name, float, float)                                                             \
  KBENCH_HALF_WITH(Name, double, double)                                                           \
  KBENCH_HALF_WITH(Name, int, Name)                                                                \
  KBENCH_HALF_WITH(Name, long long, Name)                                                          \
  KBENCH_HALF_WITH(Name, long, Name)                                                               \
  KBENCH_HALF_COMPARED(Name, ==)                                                                   \
  KBENCH_HALF_COMPARED(Name, !=)                                                                   \
  KBENCH_HALF_COMPARED(Name, <)                                                                    \
  KBENCH_HALF_COMPARED(Name, <=)                                                                   \
  KBENCH_HALF_COMPARED(Name, >)                                                                    \
  KBENCH_HALF_COMPARED(Name, >=)
#define KBENCH_HALF_WITH(Name, Other, Result)                                                      \
  __device__ inline Result operator+(Name a, Other b) { return Result(float(a)) + Result(b); }     \
  __device__ inline Result operator-(Name a, Other b) { return Result(float(a)) - Result(b); }     \
  __device__ inline Result operator*(Name a, Other b) { return Result(float(a)) * Result(b); }     \
  __device__ inline Result operator/(Name a, Other b) { return Result(float(a)) / Result(b); }     \
  __device__ inline Result operator+(Other a, Name b) { return Result(a) + Result(float(b)); }     \
  __device__ inline Result operator-(Other a, Name b) { return Result(a) - Result(float(b)); }     \
  __device__ inline Result operator*(Other a, Name b) { return Result(a) * Result(float(b)); }     \
  __device__ inline Result operator/(Other a, Name b) { return Result(a) / Result(float(b)); }
#define KBENCH_HALF_COMPARED(Name, op)                                                             \
  __device__ inline bool operator op(Name a, Name b) { return float(a) op float(b); }              \
  __device__ inline bool operator op(Name a, float b) { return float(a) op b; }                    \
  __device__ inline bool operator op(float a, Name b) { return a op float(b); }                    \
  __device__ inline bool operator op(Name a, double b) { return double(float(a)) op b; }           \
  __device__ inline bool operator op(double a, Name b) { return a op double(float(b)); }           \
  __device__ inline bool operator op(Name a, int b) { return float(a) op float(b); }               \
  __device__ inline bool operator op(int a, Name b) { return float(a) op float(b); }
KBENCH_HALF(Half, __half, __float2half_rn, __half2float)
KBENCH_HALF(BFloat16, __nv_bfloat16, __float2bfloat16_rn, __bfloat162float)
#undef KBENCH_HALF
#undef KBENCH_HALF_WITH
#undef KBENCH_HALF_COMPARED
}  // namespace c10
namespace at {
using c10::Half;
using c10::BFloat16;
template <bool kCuda> struct AccumulateType<c10::Half, kCuda> { using type = float; };
template <bool kCuda> struct AccumulateType<c10::BFloat16, kCuda> { using type = float; };
template <> struct OpMathType<c10::Half> { using type = float; };
template <> struct OpMathType<c10::BFloat16> { using type = float; };
template <> struct numeric_limits<c10::Half> {
  __device__ static c10::Half lowest() { return {0xFBFF, c10::Half::from_bits()}; }
  __device__ static c10::Half max() { return {0x7BFF, c10::Half::from_bits()}; }
  __device__ static c10::Half lower_bound() { return {0xFC00, c10::Half::from_bits()}; }
  __device__ static c10::Half upper_bound() { return {0x7C00, c10::Half::from_bits()}; }
};
template <> struct numeric_limits<c10::BFloat16> {
  __device__ static c10::BFloat16 lowest() { return {0xFF7F, c10::BFloat16::from_bits()}; }
  __device__ static c10::BFloat16 max() { return {0x7F7F, c10::BFloat16::from_bits()}; }
  __device__ static c10::BFloat16 lower_bound() { return {0xFF80, c10::BFloat16::from_bits()}; }
  __device__ static c10::BFloat16 upper_bound() { return {0x7F80, c10::BFloat16::from_bits()}; }
};
}  // namespace at
namespace torch {
using c10::Half;
using c10::BFloat16;
}  // namespace torch
__device__ inline c10::Half __ldg(const c10::Half* at) {
  return __ldg(reinterpret_cast<const __half*>(at));
}
__device__ inline c10::BFloat16 __ldg(const c10::BFloat16* at) {
  return __ldg(reinterpret_cast<const __nv_bfloat16*>(at));
}
#define KBENCH_HALF_SHUFFLE(shuffle, Second)                                                       \
  template <typename T, typename = std::enable_if_t<std::is_same<T, c10::Half>::value ||           \
                                                    std::is_same<T, c10::BFloat16>::value>>        \
  __device__ inline T shuffle(unsigned mask, T value, Second second, int width = 32) {             \
    return T((unsigned short)shuffle(mask, (unsigned)value.x, second, width), T::from_bits());     \
  }
KBENCH_HALF_SHUFFLE(__shfl_sync, int)
KBENCH_HALF_SHUFFLE(__shfl_down_sync, unsigned)
KBENCH_HALF_SHUFFLE(__shfl_up_sync, unsigned)
KBENCH_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef KBENCH_HALF_SHUFFLE
__device__ inline void gpuAtomicAdd(c10::Half* at, c10::Half value) {
  atomicAdd(reinterpret_cast<__half*>(at), value.operator __half());
}
__device__ inline void gpuAtomicAdd(c10::BFloat16* at, c10::BFloat16 value) {
  atomicAdd(reinterpret_cast<__nv_bfloat16*>(at), value.operator __nv_bfloat16());
}
__device__ inline c10::Half atomicAdd(c10::Half* at, c10::Half value) {
  return atomicAdd(reinterpret_cast<__half*>(at), value.operator __half());
}
__device__ inline c10::BFloat16 atomicAdd(c10::BFloat16* at, c10::BFloat16 value) {
  return atomicAdd(reinterpret_cast<__nv_bfloat16*>(at), value.operator __nv_bfloat16());
}

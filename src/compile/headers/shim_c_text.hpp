// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

// What the shim headers say, C++14 and later, for device code. Types are those of CUDA's own
// headers for NVRTC (int64_t is long long there), so that both may declare them.
namespace kbench {

inline constexpr std::string_view kPreludeText = R"cuda(#pragma once
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
)cuda";

inline constexpr std::string_view kTypesText = R"cuda(#pragma once
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef int16_t int_fast16_t;
typedef int32_t int_fast32_t;
typedef int64_t int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef uint16_t uint_fast16_t;
typedef uint32_t uint_fast32_t;
typedef uint64_t uint_fast64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef long ssize_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef offsetof
#define offsetof(type, member) (__INTADDR__(&(((type*)0)->member)))
#endif
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::int_least8_t; using ::int_least16_t; using ::int_least32_t; using ::int_least64_t;
using ::uint_least8_t; using ::uint_least16_t; using ::uint_least32_t; using ::uint_least64_t;
using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;
using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype((char*)0 - (char*)0);
using nullptr_t = decltype(nullptr);
#if __cplusplus >= 201703L
enum class byte : unsigned char {};
#endif
using ::clock_t; using ::clock;
using ::printf; using ::malloc; using ::free; using ::memcpy; using ::memset;
}  // namespace std
)cuda";

inline constexpr std::string_view kLimitsText = R"cuda(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615uL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615uLL
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX ULONG_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.40282347e+38f
#define FLT_MIN 1.17549435e-38f
#define FLT_EPSILON 1.19209290e-7f
#define FLT_TRUE_MIN 1.40129846e-45f
#define FLT_DECIMAL_DIG 9
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_TRUE_MIN 4.9406564584124654e-324
#define DBL_DECIMAL_DIG 17
#define HUGE_VALF __builtin_bit_cast(float, 0x7f800000u)
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000uLL)
#define INFINITY HUGE_VALF
#define NAN __builtin_bit_cast(float, 0x7fc00000u)
)cuda";

inline constexpr std::string_view kMathText = R"cuda(#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
// Of two different types: nvcc finds the C++ library's templates, which compute in double.
template <typename T> struct kbench_arithmetic {};
#define KBENCH_ARITHMETIC(T) \
  template <> struct kbench_arithmetic<T> { typedef double promoted; };
KBENCH_ARITHMETIC(bool) KBENCH_ARITHMETIC(char) KBENCH_ARITHMETIC(signed char)
KBENCH_ARITHMETIC(unsigned char) KBENCH_ARITHMETIC(short) KBENCH_ARITHMETIC(unsigned short)
KBENCH_ARITHMETIC(int) KBENCH_ARITHMETIC(unsigned) KBENCH_ARITHMETIC(long)
KBENCH_ARITHMETIC(unsigned long) KBENCH_ARITHMETIC(long long)
KBENCH_ARITHMETIC(unsigned long long) KBENCH_ARITHMETIC(float) KBENCH_ARITHMETIC(double)
#undef KBENCH_ARITHMETIC
template <typename A, typename B, typename = typename kbench_arithmetic<A>::promoted,
          typename = typename kbench_arithmetic<B>::promoted>
__host__ __device__ inline double pow(A base, B exponent) {
  return pow(static_cast<double>(base), static_cast<double>(exponent));
}
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::isfinite; using ::isinf; using ::isnan; using ::labs; using ::ldexp; using ::lgamma;
using ::llabs; using ::llrint; using ::llround; using ::log; using ::log10; using ::log1p;
using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nan;
using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::remquo; using ::rint;
using ::round; using ::scalbln; using ::scalbn; using ::signbit; using ::sin; using ::sinh;
using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;
using ::acosf; using ::acoshf; using ::asinf; using ::asinhf; using ::atanf; using ::atan2f;
using ::atanhf; using ::cbrtf; using ::ceilf; using ::copysignf; using ::cosf; using ::coshf;
using ::erff; using ::erfcf; using ::expf; using ::exp2f; using ::expm1f; using ::fabsf;
using ::fdimf; using ::floorf; using ::fmaf; using ::fmaxf; using ::fminf; using ::fmodf;
using ::frexpf; using ::hypotf; using ::ilogbf; using ::ldexpf; using ::lgammaf; using ::llrintf;
using ::llroundf; using ::logf; using ::log10f; using ::log1pf; using ::log2f; using ::logbf;
using ::lrintf; using ::lroundf; using ::modff; using ::nanf; using ::nearbyintf;
using ::nextafterf; using ::powf; using ::remainderf; using ::remquof; using ::rintf;
using ::roundf; using ::scalblnf; using ::scalbnf; using ::sinf; using ::sinhf; using ::sqrtf;
using ::tanf; using ::tanhf; using ::tgammaf; using ::truncf;
}  // namespace std
)cuda";

}  // namespace kbench

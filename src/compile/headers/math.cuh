// SPDX-License-Identifier: MIT
#pragma once
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
// For pow() of two different types, as in the C++ library under nvcc, which computes in double.
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

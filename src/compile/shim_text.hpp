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
#define offsetof(type, member) __builtin_offsetof(type, member)
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

inline constexpr std::string_view kTraitsText = R"cuda(#pragma once
namespace std {
template <typename T, T kValue> struct integral_constant {
  static constexpr T value = kValue;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return kValue; }
  __host__ __device__ constexpr T operator()() const { return kValue; }
};
template <bool kValue> using bool_constant = integral_constant<bool, kValue>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <typename T> struct type_identity { using type = T; };
template <typename...> using void_t = void;

template <bool, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool kTest, typename T = void> using enable_if_t = typename enable_if<kTest, T>::type;
template <bool, typename T, typename> struct conditional { using type = T; };
template <typename T, typename U> struct conditional<false, T, U> { using type = U; };
template <bool kTest, typename T, typename U>
using conditional_t = typename conditional<kTest, T, U>::type;

template <typename T> struct remove_const { using type = T; };
template <typename T> struct remove_const<const T> { using type = T; };
template <typename T> struct remove_volatile { using type = T; };
template <typename T> struct remove_volatile<volatile T> { using type = T; };
template <typename T> struct remove_reference { using type = T; };
template <typename T> struct remove_reference<T&> { using type = T; };
template <typename T> struct remove_reference<T&&> { using type = T; };
template <typename T> struct remove_pointer { using type = T; };
template <typename T> struct remove_pointer<T*> { using type = T; };
template <typename T> struct remove_pointer<T* const> { using type = T; };
template <typename T> struct remove_extent { using type = T; };
template <typename T> struct remove_extent<T[]> { using type = T; };
template <typename T, size_t kSize> struct remove_extent<T[kSize]> { using type = T; };
template <typename T> using remove_const_t = typename remove_const<T>::type;
template <typename T> using remove_volatile_t = typename remove_volatile<T>::type;
template <typename T> using remove_reference_t = typename remove_reference<T>::type;
template <typename T> using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T> using remove_extent_t = typename remove_extent<T>::type;
template <typename T> struct remove_cv { using type = remove_const_t<remove_volatile_t<T>>; };
template <typename T> using remove_cv_t = typename remove_cv<T>::type;
template <typename T> struct remove_cvref { using type = remove_cv_t<remove_reference_t<T>>; };
template <typename T> using remove_cvref_t = typename remove_cvref<T>::type;
template <typename T> struct add_const { using type = const T; };
template <typename T> struct add_volatile { using type = volatile T; };
template <typename T> struct add_cv { using type = const volatile T; };
template <typename T> struct add_pointer { using type = remove_reference_t<T>*; };
template <typename T> struct add_lvalue_reference { using type = T&; };
template <typename T> struct add_rvalue_reference { using type = T&&; };
template <typename T> using add_const_t = typename add_const<T>::type;
template <typename T> using add_volatile_t = typename add_volatile<T>::type;
template <typename T> using add_cv_t = typename add_cv<T>::type;
template <typename T> using add_pointer_t = typename add_pointer<T>::type;
template <typename T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <typename T> using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <typename T> __host__ __device__ T&& declval() noexcept;

template <typename T, typename U> struct is_same : false_type {};
template <typename T> struct is_same<T, T> : true_type {};
template <typename T> struct is_const : false_type {};
template <typename T> struct is_const<const T> : true_type {};
template <typename T> struct is_volatile : false_type {};
template <typename T> struct is_volatile<volatile T> : true_type {};
template <typename T> struct is_lvalue_reference : false_type {};
template <typename T> struct is_lvalue_reference<T&> : true_type {};
template <typename T> struct is_rvalue_reference : false_type {};
template <typename T> struct is_rvalue_reference<T&&> : true_type {};
template <typename T> struct is_reference : false_type {};
template <typename T> struct is_reference<T&> : true_type {};
template <typename T> struct is_reference<T&&> : true_type {};
template <typename T> struct is_array : false_type {};
template <typename T> struct is_array<T[]> : true_type {};
template <typename T, size_t kSize> struct is_array<T[kSize]> : true_type {};
template <typename T> struct is_void : is_same<remove_cv_t<T>, void> {};
template <typename T> struct is_null_pointer : is_same<remove_cv_t<T>, nullptr_t> {};
namespace kbench_detail {
template <typename T> struct is_pointer : false_type {};
template <typename T> struct is_pointer<T*> : true_type {};
template <typename T, typename... List> __host__ __device__ constexpr bool one_of() {
  const bool same[] = {is_same<T, List>::value...};
  for (bool found : same) {
    if (found) return true;
  }
  return false;
}
template <typename T> struct make_unsigned {};
template <> struct make_unsigned<char> { using type = unsigned char; };
template <> struct make_unsigned<signed char> { using type = unsigned char; };
template <> struct make_unsigned<short> { using type = unsigned short; };
template <> struct make_unsigned<int> { using type = unsigned; };
template <> struct make_unsigned<long> { using type = unsigned long; };
template <> struct make_unsigned<long long> { using type = unsigned long long; };
template <> struct make_unsigned<unsigned char> { using type = unsigned char; };
template <> struct make_unsigned<unsigned short> { using type = unsigned short; };
template <> struct make_unsigned<unsigned> { using type = unsigned; };
template <> struct make_unsigned<unsigned long> { using type = unsigned long; };
template <> struct make_unsigned<unsigned long long> { using type = unsigned long long; };
template <typename T> struct make_signed {};
template <> struct make_signed<char> { using type = signed char; };
template <> struct make_signed<signed char> { using type = signed char; };
template <> struct make_signed<short> { using type = short; };
template <> struct make_signed<int> { using type = int; };
template <> struct make_signed<long> { using type = long; };
template <> struct make_signed<long long> { using type = long long; };
template <> struct make_signed<unsigned char> { using type = signed char; };
template <> struct make_signed<unsigned short> { using type = short; };
template <> struct make_signed<unsigned> { using type = int; };
template <> struct make_signed<unsigned long> { using type = long; };
template <> struct make_signed<unsigned long long> { using type = long long; };
}  // namespace kbench_detail
template <typename T> struct is_pointer : kbench_detail::is_pointer<remove_cv_t<T>> {};
template <typename T> struct is_integral
    : bool_constant<kbench_detail::one_of<remove_cv_t<T>, bool, char, signed char, unsigned char,
                                          wchar_t, char16_t, char32_t, short, unsigned short, int,
                                          unsigned, long, unsigned long, long long,
                                          unsigned long long>()> {};
template <typename T> struct is_floating_point
    : bool_constant<kbench_detail::one_of<remove_cv_t<T>, float, double>()> {};
template <typename T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <typename T> struct is_fundamental
    : bool_constant<is_arithmetic<T>::value || is_void<T>::value || is_null_pointer<T>::value> {};
template <typename T, bool = is_arithmetic<T>::value>
struct is_signed : bool_constant<(T(-1) < T(0))> {};
template <typename T> struct is_signed<T, false> : false_type {};
template <typename T>
struct is_unsigned : bool_constant<is_arithmetic<T>::value && !is_signed<T>::value> {};
template <typename T> struct is_enum : bool_constant<__is_enum(T)> {};
template <typename T> struct is_class : bool_constant<__is_class(T)> {};
template <typename T> struct is_union : bool_constant<__is_union(T)> {};
template <typename T> struct is_empty : bool_constant<__is_empty(T)> {};
template <typename T> struct is_final : bool_constant<__is_final(T)> {};
template <typename T> struct is_scalar
    : bool_constant<is_arithmetic<T>::value || is_enum<T>::value || is_pointer<T>::value ||
                    is_null_pointer<T>::value> {};
template <typename T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <typename T> struct is_trivial : bool_constant<__is_trivial(T)> {};
template <typename T> struct is_standard_layout : bool_constant<__is_standard_layout(T)> {};
template <typename Base, typename Derived>
struct is_base_of : bool_constant<__is_base_of(Base, Derived)> {};
template <typename From, typename To>
struct is_convertible : bool_constant<__is_convertible_to(From, To)> {};
template <typename T, typename... Args>
struct is_constructible : bool_constant<__is_constructible(T, Args...)> {};
template <typename T> struct is_default_constructible : is_constructible<T> {};
template <typename T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <typename T> struct rank : integral_constant<size_t, 0> {};
template <typename T> struct underlying_type { using type = __underlying_type(T); };
template <typename T> using underlying_type_t = typename underlying_type<T>::type;
template <typename T> struct make_unsigned : kbench_detail::make_unsigned<remove_cv_t<T>> {};
template <typename T> struct make_signed : kbench_detail::make_signed<remove_cv_t<T>> {};
template <typename T> using make_unsigned_t = typename make_unsigned<T>::type;
template <typename T> using make_signed_t = typename make_signed<T>::type;
template <typename T> struct decay {
  using bare = remove_reference_t<T>;
  using type = conditional_t<is_array<bare>::value, remove_extent_t<bare>*, remove_cv_t<bare>>;
};
template <typename T> using decay_t = typename decay<T>::type;
template <typename... T> struct common_type {};
template <typename T> struct common_type<T> { using type = decay_t<T>; };
template <typename T, typename U> struct common_type<T, U> {
  using type = decay_t<decltype(true ? declval<T>() : declval<U>())>;
};
template <typename T, typename U, typename V, typename... More>
struct common_type<T, U, V, More...>
    : common_type<typename common_type<T, U>::type, V, More...> {};
template <typename... T> using common_type_t = typename common_type<T...>::type;
template <typename Function, typename... Args> struct invoke_result {
  using type = decltype(declval<Function>()(declval<Args>()...));
};
template <typename Function, typename... Args>
using invoke_result_t = typename invoke_result<Function, Args...>::type;
template <size_t kLength, size_t kAlign = 16> struct aligned_storage {
  struct alignas(kAlign) type { unsigned char data[kLength]; };
};
template <size_t kLength, size_t kAlign = 16>
using aligned_storage_t = typename aligned_storage<kLength, kAlign>::type;
template <typename...> struct conjunction : true_type {};
template <typename T> struct conjunction<T> : T {};
template <typename T, typename... More> struct conjunction<T, More...>
    : conditional_t<bool(T::value), conjunction<More...>, T> {};
template <typename...> struct disjunction : false_type {};
template <typename T> struct disjunction<T> : T {};
template <typename T, typename... More> struct disjunction<T, More...>
    : conditional_t<bool(T::value), T, disjunction<More...>> {};
template <typename T> struct negation : bool_constant<!bool(T::value)> {};

template <typename T, typename U> constexpr bool is_same_v = is_same<T, U>::value;
template <typename T> constexpr bool is_const_v = is_const<T>::value;
template <typename T> constexpr bool is_void_v = is_void<T>::value;
template <typename T> constexpr bool is_array_v = is_array<T>::value;
template <typename T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <typename T> constexpr bool is_reference_v = is_reference<T>::value;
template <typename T> constexpr bool is_lvalue_reference_v = is_lvalue_reference<T>::value;
template <typename T> constexpr bool is_integral_v = is_integral<T>::value;
template <typename T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T> constexpr bool is_scalar_v = is_scalar<T>::value;
template <typename T> constexpr bool is_signed_v = is_signed<T>::value;
template <typename T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <typename T> constexpr bool is_enum_v = is_enum<T>::value;
template <typename T> constexpr bool is_class_v = is_class<T>::value;
template <typename T> constexpr bool is_empty_v = is_empty<T>::value;
template <typename T> constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <typename B, typename D> constexpr bool is_base_of_v = is_base_of<B, D>::value;
template <typename F, typename T> constexpr bool is_convertible_v = is_convertible<F, T>::value;
template <typename T, typename... A>
constexpr bool is_constructible_v = is_constructible<T, A...>::value;
template <typename T> constexpr size_t alignment_of_v = alignof(T);
template <typename... T> constexpr bool conjunction_v = conjunction<T...>::value;
template <typename... T> constexpr bool disjunction_v = disjunction<T...>::value;
template <typename T> constexpr bool negation_v = negation<T>::value;

#if __cplusplus >= 202002L
template <typename T, typename U> concept same_as = is_same_v<T, U> && is_same_v<U, T>;
template <typename T> concept integral = is_integral_v<T>;
template <typename T> concept signed_integral = integral<T> && is_signed_v<T>;
template <typename T> concept unsigned_integral = integral<T> && !is_signed_v<T>;
template <typename T> concept floating_point = is_floating_point_v<T>;
template <typename F, typename T> concept convertible_to = is_convertible_v<F, T>;
template <typename D, typename B> concept derived_from = is_base_of_v<B, D>;
#endif
}  // namespace std
)cuda";

inline constexpr std::string_view kNumericLimitsText = R"cuda(#pragma once
namespace std {
enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };
namespace kbench_detail {
// Constants are members of templates and no full specialisation holds any: NVRTC emits the constants
// of every class that it instantiates, and so only those of the types that a source asks for.
template <typename T, bool kIntegral, bool kFloating> struct limits {
  static constexpr bool is_specialized = false, is_signed = false, is_integer = false,
                        is_exact = false, is_iec559 = false, is_bounded = false,
                        is_modulo = false, has_infinity = false, has_quiet_NaN = false,
                        has_signaling_NaN = false;
  static constexpr int digits = 0, digits10 = 0, max_digits10 = 0, radix = 0, min_exponent = 0,
                       max_exponent = 0, min_exponent10 = 0, max_exponent10 = 0;
  static constexpr float_round_style round_style = round_toward_zero;
  __host__ __device__ static constexpr T min() { return T(); }
  __host__ __device__ static constexpr T lowest() { return T(); }
  __host__ __device__ static constexpr T max() { return T(); }
  __host__ __device__ static constexpr T epsilon() { return T(); }
  __host__ __device__ static constexpr T round_error() { return T(); }
  __host__ __device__ static constexpr T infinity() { return T(); }
  __host__ __device__ static constexpr T quiet_NaN() { return T(); }
  __host__ __device__ static constexpr T signaling_NaN() { return T(); }
  __host__ __device__ static constexpr T denorm_min() { return T(); }
};
template <typename T> struct limits<T, true, false> : limits<T, false, false> {
  static constexpr bool is_specialized = true, is_signed = std::is_signed<T>::value,
                        is_integer = true, is_exact = true, is_bounded = true,
                        is_modulo = !is_signed;
  static constexpr int radix = 2;
  static constexpr int digits = is_same<T, bool>::value ? 1 : int(sizeof(T)) * 8 - is_signed;
  static constexpr int digits10 = digits * 643 / 2136;
  __host__ __device__ static constexpr T max() {
    return T(~0uLL >> (64 - digits));
  }
  __host__ __device__ static constexpr T min() { return is_signed ? T(-(long long)max() - 1) : T(0); }
  __host__ __device__ static constexpr T lowest() { return min(); }
};
template <typename T> struct limits<T, false, true> : limits<T, false, false> {
  static constexpr bool kSingle = sizeof(T) == 4;
  static constexpr bool is_specialized = true, is_signed = true, is_iec559 = true,
                        is_bounded = true, has_infinity = true, has_quiet_NaN = true,
                        has_signaling_NaN = true;
  static constexpr int radix = 2, digits = kSingle ? 24 : 53, digits10 = kSingle ? 6 : 15,
                       max_digits10 = kSingle ? 9 : 17, min_exponent = kSingle ? -125 : -1021,
                       max_exponent = kSingle ? 128 : 1024, min_exponent10 = kSingle ? -37 : -307,
                       max_exponent10 = kSingle ? 38 : 308;
  static constexpr float_round_style round_style = round_to_nearest;
  using bits = conditional_t<kSingle, unsigned, unsigned long long>;
  __host__ __device__ static constexpr T of(unsigned single_bits, unsigned long long double_bits) {
    return __builtin_bit_cast(T, bits(kSingle ? single_bits : double_bits));
  }
  __host__ __device__ static constexpr T min() { return of(0x00800000u, 0x0010000000000000uLL); }
  __host__ __device__ static constexpr T max() { return of(0x7f7fffffu, 0x7fefffffffffffffuLL); }
  __host__ __device__ static constexpr T lowest() { return -max(); }
  __host__ __device__ static constexpr T epsilon() { return of(0x34000000u, 0x3cb0000000000000uLL); }
  __host__ __device__ static constexpr T round_error() { return T(0.5); }
  __host__ __device__ static constexpr T infinity() { return of(0x7f800000u, 0x7ff0000000000000uLL); }
  __host__ __device__ static constexpr T quiet_NaN() { return of(0x7fc00000u, 0x7ff8000000000000uLL); }
  __host__ __device__ static constexpr T signaling_NaN() {
    return of(0x7fa00000u, 0x7ff4000000000000uLL);
  }
  __host__ __device__ static constexpr T denorm_min() { return of(1u, 1uLL); }
};
}  // namespace kbench_detail
template <typename T> struct numeric_limits
    : kbench_detail::limits<remove_cv_t<T>, is_integral<T>::value, is_floating_point<T>::value> {};
}  // namespace std
)cuda";

inline constexpr std::string_view kAlgorithmText = R"cuda(#pragma once
namespace std {
template <typename T>
__host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T>
__host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T, typename Less>
__host__ __device__ constexpr const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <typename T, typename Less>
__host__ __device__ constexpr const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <typename T> __host__ __device__ constexpr T min(initializer_list<T> values) {
  T least = *values.begin();
  for (const T& value : values) least = value < least ? value : least;
  return least;
}
template <typename T> __host__ __device__ constexpr T max(initializer_list<T> values) {
  T most = *values.begin();
  for (const T& value : values) most = most < value ? value : most;
  return most;
}
template <typename T>
__host__ __device__ constexpr const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}
template <typename T> __host__ __device__ constexpr void swap(T& a, T& b) {
  T old = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(old);
}
template <typename T, typename U = T> __host__ __device__ constexpr T exchange(T& place, U&& next) {
  T old = static_cast<T&&>(place);
  place = static_cast<U&&>(next);
  return old;
}
template <typename T> __host__ __device__ constexpr const T& as_const(T& value) { return value; }
template <typename I, typename T> __host__ __device__ constexpr void fill(I at, I end, const T& v) {
  for (; at != end; ++at) *at = v;
}
template <typename I, typename N, typename T>
__host__ __device__ constexpr I fill_n(I at, N count, const T& value) {
  for (N i = 0; i < count; ++i) *at++ = value;
  return at;
}
template <typename I, typename O> __host__ __device__ constexpr O copy(I at, I end, O to) {
  for (; at != end; ++at) *to++ = *at;
  return to;
}
template <typename I, typename T> __host__ __device__ constexpr T accumulate(I at, I end, T sum) {
  for (; at != end; ++at) sum = sum + *at;
  return sum;
}
template <typename A, typename B> __host__ __device__ constexpr common_type_t<A, B> gcd(A a, B b) {
  common_type_t<A, B> x = a < 0 ? -a : a, y = b < 0 ? -b : b;
  while (y != 0) {
    common_type_t<A, B> rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

template <typename A, typename B> struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;
};
template <typename A, typename B>
__host__ __device__ constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) {
  return {static_cast<A&&>(a), static_cast<B&&>(b)};
}
template <typename T, T... kValues> struct integer_sequence {
  using value_type = T;
  __host__ __device__ static constexpr size_t size() { return sizeof...(kValues); }
};
template <size_t... kValues> using index_sequence = integer_sequence<size_t, kValues...>;
namespace kbench_detail {
template <typename T, size_t kLeft, T... kValues> struct counted
    : counted<T, kLeft - 1, T(kLeft - 1), kValues...> {};
template <typename T, T... kValues> struct counted<T, 0, kValues...> {
  using type = integer_sequence<T, kValues...>;
};
}  // namespace kbench_detail
template <typename T, T kCount>
using make_integer_sequence = typename kbench_detail::counted<T, size_t(kCount)>::type;
template <size_t kCount> using make_index_sequence = make_integer_sequence<size_t, kCount>;
template <typename... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <typename T, size_t kSize> struct array {
  using value_type = T;
  using size_type = size_t;
  using iterator = T*;
  using const_iterator = const T*;
  T elements[kSize > 0 ? kSize : 1];
  __host__ __device__ constexpr T& operator[](size_t i) { return elements[i]; }
  __host__ __device__ constexpr const T& operator[](size_t i) const { return elements[i]; }
  __host__ __device__ constexpr T& front() { return elements[0]; }
  __host__ __device__ constexpr const T& front() const { return elements[0]; }
  __host__ __device__ constexpr T& back() { return elements[kSize - 1]; }
  __host__ __device__ constexpr const T& back() const { return elements[kSize - 1]; }
  __host__ __device__ constexpr T* data() { return elements; }
  __host__ __device__ constexpr const T* data() const { return elements; }
  __host__ __device__ constexpr T* begin() { return elements; }
  __host__ __device__ constexpr const T* begin() const { return elements; }
  __host__ __device__ constexpr T* end() { return elements + kSize; }
  __host__ __device__ constexpr const T* end() const { return elements + kSize; }
  __host__ __device__ static constexpr size_t size() { return kSize; }
  __host__ __device__ static constexpr bool empty() { return kSize == 0; }
  __host__ __device__ constexpr void fill(const T& value) {
    for (T& element : elements) element = value;
  }
};

#define KBENCH_BINARY(name, op)                                                             \
  template <typename T = void> struct name {                                                \
    __host__ __device__ constexpr auto operator()(const T& a, const T& b) const {           \
      return a op b;                                                                        \
    }                                                                                       \
  };                                                                                        \
  template <> struct name<void> {                                                           \
    template <typename A, typename B>                                                       \
    __host__ __device__ constexpr auto operator()(const A& a, const B& b) const {           \
      return a op b;                                                                        \
    }                                                                                       \
  };
KBENCH_BINARY(plus, +)
KBENCH_BINARY(minus, -)
KBENCH_BINARY(multiplies, *)
KBENCH_BINARY(divides, /)
KBENCH_BINARY(modulus, %)
KBENCH_BINARY(less, <)
KBENCH_BINARY(greater, >)
KBENCH_BINARY(less_equal, <=)
KBENCH_BINARY(greater_equal, >=)
KBENCH_BINARY(equal_to, ==)
KBENCH_BINARY(not_equal_to, !=)
KBENCH_BINARY(logical_and, &&)
KBENCH_BINARY(logical_or, ||)
KBENCH_BINARY(bit_and, &)
KBENCH_BINARY(bit_or, |)
KBENCH_BINARY(bit_xor, ^)
#undef KBENCH_BINARY
}  // namespace std
)cuda";

}  // namespace kbench

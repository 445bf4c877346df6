// SPDX-License-Identifier: MIT
// The part of <limits> that kernels use; see prelude.cuh.
#pragma once
namespace std {
enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };
namespace kbench_detail {
// Constants are members of templates, never of full specialisations. NVRTC emits the constants of
// every instantiated class, so it emits only those of types that a source uses.
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

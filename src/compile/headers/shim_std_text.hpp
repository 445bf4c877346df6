// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

// The parts of <limits>, <algorithm>, <utility>, <array> and <functional> that kernels use; see
// shim_c_text.hpp.
namespace kbench {

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

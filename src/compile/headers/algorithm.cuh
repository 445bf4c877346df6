// SPDX-License-Identifier: MIT
#pragma once
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

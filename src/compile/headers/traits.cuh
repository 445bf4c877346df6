// SPDX-License-Identifier: MIT
// The part of <type_traits> and <concepts> that kernels use; see prelude.cuh.
#pragma once
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

// SPDX-License-Identifier: MIT
//
// As much of pybind11 as most host halves use: PYBIND11_MODULE with functions of the types of
// binding_runtime.hpp. GCC compiles pybind11's own headers anew for each candidate, which takes it
// longer than all the rest. What Python sees is pybind11's work all the same, done in
// binding_runtime.cpp. A text that asks for more does not compile on top of this, and is compiled
// with pybind11 itself.
#pragma once

#include <new>
#include <type_traits>

#include "binding_runtime.hpp"

namespace kbench_binding {

/// The row of a type, and the type that its values have on their way.
template <typename T, typename = void>
struct TypeOf;

#define KBENCH_BINDING_ROW(name, ...)              \
  template <>                                      \
  struct TypeOf<__VA_ARGS__> {                     \
    using Stored = __VA_ARGS__;                    \
    static constexpr Type kType = Type::name;      \
    static_assert(sizeof(Stored) <= kResultBytes); \
  };
KBENCH_BINDING_TYPES(KBENCH_BINDING_ROW)
#undef KBENCH_BINDING_ROW

template <>
struct TypeOf<void> {
  static constexpr Type kType = Type::kVoid;
};

/// Of long and long long, the one that is not std::int64_t.
template <typename T>
struct TypeOf<T, std::enable_if_t<std::is_same_v<T, long long> || std::is_same_v<T, long>>>
    : TypeOf<std::int64_t> {};
template <typename T>
struct TypeOf<
    T, std::enable_if_t<std::is_same_v<T, unsigned long long> || std::is_same_v<T, unsigned long>>>
    : TypeOf<std::uint64_t> {};

template <typename T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <typename R, typename... A>
struct Signature {
  static constexpr Type kTypes[] = {TypeOf<Plain<R>>::kType, TypeOf<Plain<A>>::kType...};

  template <typename F>
  static void call(void* callable, void* const* arguments, void* result) {
    call(*static_cast<F*>(callable), arguments, result, std::index_sequence_for<A...>());
  }
  template <typename F, std::size_t... I>
  static void call(F& callable, void* const* arguments, void* result, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>)
      callable(static_cast<A&&>(*static_cast<typename TypeOf<Plain<A>>::Stored*>(arguments[I]))...);
    else
      new (result) typename TypeOf<Plain<R>>::Stored(callable(
          static_cast<A&&>(*static_cast<typename TypeOf<Plain<A>>::Stored*>(arguments[I]))...));
  }
};

template <typename R, typename... A>
Signature<R, A...> signature_of(R (*)(A...));
template <typename F, typename R, typename... A>
Signature<R, A...> signature_of_call(R (F::*)(A...));
template <typename F, typename R, typename... A>
Signature<R, A...> signature_of_call(R (F::*)(A...) const);
template <typename F>
decltype(signature_of_call(&F::operator())) signature_of(F);

template <typename F>
inline constexpr bool kIsNoexcept = false;
template <typename R, typename... A>
inline constexpr bool kIsNoexcept<R (*)(A...) noexcept> = true;

template <typename F>
struct WithErrorHandling {
  static_assert(!kIsNoexcept<F>, "torch takes no such function either");
  F function;
};

class Doc {
 public:
  explicit Doc(void* module) : module_(module) {}
  void operator=(const std::string& text) const { set_doc(module_, text.c_str()); }

 private:
  void* module_;
};

/// The `m` of PYBIND11_MODULE.
class Module {
 public:
  explicit Module(void* module) : module_(module) {}

  template <typename F>
  Module& def(const char* name, F&& function, const char* doc = nullptr) {
    return add(name, std::decay_t<F>(function), doc, false);
  }
  template <typename F>
  Module& def(const char* name, WithErrorHandling<F> wrapped, const char* doc = nullptr) {
    return add(name, wrapped.function, doc, true);
  }
  Doc doc() const { return Doc(module_); }

 private:
  template <typename F>
  Module& add(const char* name, F function, const char* doc, bool handles_errors) {
    using Its = decltype(signature_of(function));
    // Modules stay as long as the process.
    define(module_, {name, doc, new F(function), &Its::template call<F>, Its::kTypes,
                     std::size(Its::kTypes) - 1, handles_errors});
    return *this;
  }

  void* module_;
};

}  // namespace kbench_binding

namespace torch {

template <typename F>
kbench_binding::WithErrorHandling<std::decay_t<F>> wrap_pybind_function(F&& function) {
  return {function};
}

}  // namespace torch

#define PYBIND11_MODULE(name, variable) KBENCH_BINDING_MODULE(name, variable)
#define KBENCH_BINDING_MODULE(name, variable)                  \
  static void kbench_bind_##name(::kbench_binding::Module&);   \
  extern "C" KBENCH_BINDING_EXPORT void* PyInit_##name() {     \
    return ::kbench_binding::start(#name, kbench_bind_##name); \
  }                                                            \
  static void kbench_bind_##name(::kbench_binding::Module& variable)

// SPDX-License-Identifier: MIT
//
// What a host half without pybind11's headers and the library that binds its functions say to each
// other (kbench_binding.hpp, binding_runtime.cpp).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define KBENCH_BINDING_EXPORT __attribute__((visibility("default")))

/// What functions take and return: ROW(name, type) of each. Types of the same size and sign, as
/// long and long long, are one row.
#define KBENCH_BINDING_TYPES(ROW)                                                      \
  ROW(kBool, bool)                                                                     \
  ROW(kInt8, std::int8_t)                                                              \
  ROW(kInt16, std::int16_t)                                                            \
  ROW(kInt32, std::int32_t)                                                            \
  ROW(kInt64, std::int64_t)                                                            \
  ROW(kUint8, std::uint8_t)                                                            \
  ROW(kUint16, std::uint16_t)                                                          \
  ROW(kUint32, std::uint32_t)                                                          \
  ROW(kUint64, std::uint64_t)                                                          \
  ROW(kFloat, float)                                                                   \
  ROW(kDouble, double)                                                                 \
  ROW(kString, std::string)                                                            \
  ROW(kTensor, at::Tensor)                                                             \
  ROW(kScalarType, c10::ScalarType)                                                    \
  ROW(kDevice, c10::Device)                                                            \
  ROW(kIntArray, c10::IntArrayRef)                                                     \
  ROW(kTensors, std::vector<at::Tensor>)                                               \
  ROW(kInts, std::vector<std::int64_t>)                                                \
  ROW(kShortInts, std::vector<std::int32_t>)                                           \
  ROW(kDoubles, std::vector<double>)                                                   \
  ROW(kFloats, std::vector<float>)                                                     \
  ROW(kOptionalTensor, std::optional<at::Tensor>)                                      \
  ROW(kOptionalDouble, std::optional<double>)                                          \
  ROW(kOptionalInt, std::optional<std::int64_t>)                                       \
  ROW(kOptionalBool, std::optional<bool>)                                              \
  ROW(kPair, std::pair<at::Tensor, at::Tensor>)                                        \
  ROW(kTuple1, std::tuple<at::Tensor>)                                                 \
  ROW(kTuple2, std::tuple<at::Tensor, at::Tensor>)                                     \
  ROW(kTuple3, std::tuple<at::Tensor, at::Tensor, at::Tensor>)                         \
  ROW(kTuple4, std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>)             \
  ROW(kTuple5, std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>) \
  ROW(kTuple6, std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>)

namespace kbench_binding {

#define KBENCH_BINDING_NAME(name, ...) name,
enum class Type : unsigned char { KBENCH_BINDING_TYPES(KBENCH_BINDING_NAME) kVoid };
#undef KBENCH_BINDING_NAME

/// One function of a module. Strings need to live for the call of define() alone, the rest as long
/// as the process.
struct Function {
  const char* name;
  const char* doc;  ///< may be null
  void* callable;
  /// Calls `callable`. Each argument points to a value of its type, which is the callee's to move
  /// from; the result is made in `result`, of kResultBytes, unless it throws or is void.
  void (*call)(void* callable, void* const* arguments, void* result);
  const Type* types;    ///< the result's, then the arguments'
  std::size_t count;    ///< of arguments
  bool handles_errors;  ///< as torch::wrap_pybind_function does: torch's errors and warnings
};

inline constexpr std::size_t kResultBytes = 64;

class Module;

/// What PyInit_<name> returns, a PyObject; `bind` is called with the module.
KBENCH_BINDING_EXPORT void* start(const char* name, void (*bind)(Module&));
/// Adds a function, or another overload of it, to a module, which is a PyObject.
KBENCH_BINDING_EXPORT void define(void* module, const Function& function);
KBENCH_BINDING_EXPORT void set_doc(void* module, const char* doc);

}  // namespace kbench_binding

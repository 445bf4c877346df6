// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// The C++ name of a mangled symbol. Returns C names and other text unchanged.
std::string demangle(const std::string& symbol);

/// The parts of a demangled function's name.
struct FunctionName {
  std::string qualified;   ///< "ns::k": without template arguments and unnamed namespaces
  std::string expression;  ///< "ns::k<float, 4>": as NVRTC's name expressions are written
  std::string parameters;  ///< "(float const*, float*, int)"; empty for a C name
  /// False if a source cannot write the name: a lambda, or a local type among its arguments.
  bool can_be_named = true;
};

/// Splits "void ns::k<float, 4>(float const*, float*, int)" into its parts.
FunctionName function_name(std::string_view demangled);

}  // namespace kbench

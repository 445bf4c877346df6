// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// How a C++ symbol reads in a source; C names, and what is no symbol, come back as they are.
std::string demangle(const std::string& symbol);

/// A function of a demangled symbol, taken apart.
struct FunctionName {
  std::string qualified;   ///< "ns::k": without template arguments and unnamed namespaces
  std::string expression;  ///< "ns::k<float, 4>": as NVRTC's name expressions are written
  std::string parameters;  ///< "(float const*, float*, int)"; empty for a C name
  /// Whether the name can be written at all: no lambda, no local type among its arguments.
  bool can_be_named = true;
};

/// Takes "void ns::k<float, 4>(float const*, float*, int)" apart.
FunctionName function_name(std::string_view demangled);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kbench/problem.hpp"

namespace kbench::plan {

/// A number of a plan.
using Number = std::variant<bool, std::int64_t, double>;

/// How a C++ type holds a number.
struct ScalarFormat {
  enum class Kind : std::uint8_t { kBool, kSigned, kUnsigned, kFloat };
  Kind kind = Kind::kSigned;
  std::size_t bytes = 4;
  int mantissa_bits = 0;  ///< stored bits, of a float
};

/// The bits of a number in some format, or a clause that says why the format cannot hold it.
struct Encoded {
  std::optional<std::uint64_t> bits;
  std::string why_none;
};

/// Converts as C++ does, rounding floats to nearest even. Refuses what C++ would change: a fraction
/// for an integer, a value out of range, a bool other than 0 and 1.
Encoded encode(const ScalarFormat& format, const Number& number);

/// The format of a C++ type as compilers name it ("unsigned int", "__half const"), if it is one of
/// the types that hold a number.
std::optional<ScalarFormat> scalar_format(std::string_view cpp_type);
/// The format of a tensor's elements.
ScalarFormat scalar_format(DType dtype);

/// True if a pointer to `cpp_type` may point to elements of `dtype`.
bool pointee_fits(std::string_view cpp_type, DType dtype);

}  // namespace kbench::plan

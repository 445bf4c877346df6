// SPDX-License-Identifier: MIT
#include "plan/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace kbench::plan {
namespace {

using Kind = ScalarFormat::Kind;

constexpr ScalarFormat kHalf{Kind::kFloat, 2, 10}, kBFloat16{Kind::kFloat, 2, 7},
    kFloat{Kind::kFloat, 4, 23}, kDouble{Kind::kFloat, 8, 52}, kBool{Kind::kBool, 1, 0};

struct TypeRow {
  std::string_view name;  ///< canonical, see canonical_type
  ScalarFormat format;
  std::optional<DType> dtype;  ///< element type of tensors that a pointer to it accepts
};

// An unsigned type fits the signed dtype of its size too, because torch has few unsigned dtypes and
// kernels need them (counters for atomicInc, packed 64-bit keys).
constexpr std::array<TypeRow, 21> kTypes{{
    {"float", kFloat, DType::kFloat32},
    {"double", kDouble, DType::kFloat64},
    {"__half", kHalf, DType::kFloat16},
    {"half", kHalf, DType::kFloat16},
    {"__nv_bfloat16", kBFloat16, DType::kBFloat16},
    {"nv_bfloat16", kBFloat16, DType::kBFloat16},
    {"bool", kBool, DType::kBool},
    {"char", {Kind::kSigned, 1}, DType::kInt8},
    {"signed char", {Kind::kSigned, 1}, DType::kInt8},
    {"unsigned char", {Kind::kUnsigned, 1}, DType::kUInt8},
    {"short", {Kind::kSigned, 2}, DType::kInt16},
    {"unsigned short", {Kind::kUnsigned, 2}, DType::kInt16},
    {"int", {Kind::kSigned, 4}, DType::kInt32},
    {"unsigned int", {Kind::kUnsigned, 4}, DType::kInt32},
    {"long", {Kind::kSigned, 8}, DType::kInt64},
    {"unsigned long", {Kind::kUnsigned, 8}, DType::kInt64},
    {"__half2", {Kind::kUnsigned, 0}, DType::kFloat16},
    {"half2", {Kind::kUnsigned, 0}, DType::kFloat16},
    {"__nv_bfloat162", {Kind::kUnsigned, 0}, DType::kBFloat16},
    {"nv_bfloat162", {Kind::kUnsigned, 0}, DType::kBFloat16},
    {"void", {Kind::kUnsigned, 0}, std::nullopt},
}};

struct Alias {
  std::string_view name, canonical;
};

constexpr std::array<Alias, 15> kAliases{{
    {"int8_t", "signed char"},
    {"uint8_t", "unsigned char"},
    {"int16_t", "short"},
    {"uint16_t", "unsigned short"},
    {"int32_t", "int"},
    {"uint32_t", "unsigned int"},
    {"int64_t", "long"},
    {"uint64_t", "unsigned long"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"uchar", "unsigned char"},
    {"ushort", "unsigned short"},
    {"uint", "unsigned int"},
    {"longlong", "long"},
    {"ulonglong", "unsigned long"},
}};

std::string_view without_std(std::string_view word) {
  if (word.starts_with("std::")) word.remove_prefix(5);
  const auto* alias = std::ranges::find(kAliases, word, &Alias::name);
  return alias == kAliases.end() ? word : alias->canonical;
}

/// One spelling for each type: "const long long unsigned int" is "unsigned long" (both have 64
/// bits here), "float const" is "float".
std::string canonical_type(std::string_view type) {
  std::istringstream words{std::string(type)};
  bool is_unsigned = false, is_signed = false, is_short = false, is_long = false;
  std::string base;
  for (std::string word; words >> word;) {
    if (word == "const" || word == "volatile" || word == "__restrict__") continue;
    is_unsigned |= word == "unsigned";
    is_signed |= word == "signed";
    is_short |= word == "short";
    is_long |= word == "long";
    const bool of_integer = word == "unsigned" || word == "signed" || word == "short" ||
                            word == "long" || word == "int";
    if (of_integer) continue;
    base += base.empty() ? "" : " ";
    base += without_std(word);
  }
  if (base.empty()) base = is_short ? "short" : is_long ? "long" : "int";
  if (is_unsigned) return "unsigned " + base;
  return is_signed && base == "char" ? "signed char" : base;
}

const TypeRow* find_type(std::string_view canonical) {
  const auto* row = std::ranges::find(kTypes, canonical, &TypeRow::name);
  return row == kTypes.end() ? nullptr : row;
}

/// "float4" → "float", "uint2" → "unsigned int", "double4_16a" → "double"; "" for other types.
std::string element_of_vector(std::string_view type) {
  for (const std::string_view alignment : {"_16a", "_32a"}) {
    if (type.ends_with(alignment)) type.remove_suffix(alignment.size());
  }
  if (type.empty() || type.back() < '1' || type.back() > '4') return "";
  type.remove_suffix(1);
  constexpr std::array<std::string_view, 7> kPlain{"char",  "short",  "int",     "long",
                                                   "float", "double", "longlong"};
  const bool plain = std::ranges::find(kPlain, type) != kPlain.end();
  const std::string element(without_std(type));
  return plain || element != type ? element : "";
}

Encoded encode_float(const ScalarFormat& format, double value) {
  const int mantissa = format.mantissa_bits;
  const int exponent_bits = static_cast<int>(format.bytes) * 8 - 1 - mantissa;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (mantissa + exponent_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa;
  if (std::isnan(value)) return {infinity | (std::uint64_t{1} << (mantissa - 1)), ""};
  if (std::isinf(value)) return {sign | infinity, ""};
  if (value == 0) return {sign, ""};
  const double magnitude = std::fabs(value);
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; nearbyint rounds to nearest even.
  auto units =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, mantissa - exponent)));
  if (units >> (mantissa + 1) != 0) {
    units >>= 1;
    ++exponent;
  }
  if (exponent > bias) return {std::nullopt, fmt::format("{} is out of its range", value)};
  const std::uint64_t hidden = std::uint64_t{1} << mantissa;
  if (units < hidden) return {sign | units, ""};
  const int biased = exponent + bias;
  return {sign | (static_cast<std::uint64_t>(biased) << mantissa) | (units - hidden), ""};
}

Encoded encode_integer(const ScalarFormat& format, std::int64_t value) {
  const auto bits = static_cast<int>(format.bytes) * 8;
  const auto raw = static_cast<std::uint64_t>(value);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  bool fits = false;
  if (format.kind == Kind::kUnsigned) {
    fits = value >= 0 && raw <= mask;
  } else {
    const std::int64_t largest = static_cast<std::int64_t>(mask >> 1);
    fits = value <= largest && value >= -largest - 1;
  }
  if (!fits) return {std::nullopt, fmt::format("{} is out of its range", value)};
  return {raw & mask, ""};
}

Encoded encode_as_integer(const ScalarFormat& format, double value) {
  if (!std::isfinite(value)) return {std::nullopt, fmt::format("{} is not an integer", value)};
  if (std::trunc(value) != value) {
    return {std::nullopt, fmt::format("{} has a fraction, but only integers are allowed", value)};
  }
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value >= -kTwo63 && value < kTwo63) {
    return encode_integer(format, static_cast<std::int64_t>(value));
  }
  const bool fits =
      format.kind == Kind::kUnsigned && format.bytes == 8 && value > 0 && value < 2 * kTwo63;
  if (!fits) return {std::nullopt, fmt::format("{} is out of its range", value)};
  return {static_cast<std::uint64_t>(value), ""};
}

Encoded encode_bool(const Number& number) {
  const double value = std::visit([](auto n) { return static_cast<double>(n); }, number);
  if (value == 0 || value == 1) return {static_cast<std::uint64_t>(value), ""};
  return {std::nullopt, fmt::format("{} is neither true nor false", value)};
}

}  // namespace

Encoded encode(const ScalarFormat& format, const Number& number) {
  if (format.kind == Kind::kBool) return encode_bool(number);
  if (format.kind == Kind::kFloat) {
    return encode_float(format, std::visit([](auto n) { return static_cast<double>(n); }, number));
  }
  if (const auto* real = std::get_if<double>(&number)) return encode_as_integer(format, *real);
  const bool* flag = std::get_if<bool>(&number);
  return encode_integer(format,
                        flag != nullptr ? std::int64_t{*flag} : std::get<std::int64_t>(number));
}

std::optional<ScalarFormat> scalar_format(std::string_view cpp_type) {
  const TypeRow* row = find_type(canonical_type(cpp_type));
  if (row == nullptr || row->format.bytes == 0) return std::nullopt;
  return row->format;
}

ScalarFormat scalar_format(DType dtype) {
  return scalar_format(dtype_row(dtype).cuda_type).value();
}

bool pointee_fits(std::string_view cpp_type, DType dtype) {
  const std::string type = canonical_type(cpp_type);
  if (type == "void") return true;
  const TypeRow* row = find_type(type);
  if (row == nullptr) row = find_type(element_of_vector(type));
  return row != nullptr && row->dtype == dtype;
}

}  // namespace kbench::plan

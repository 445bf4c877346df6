// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>

#include "kbench/problem.hpp"

namespace kbench {
namespace {

constexpr std::array<DTypeRow, 10> kDTypes{{
    {DType::kFloat32, "float32", 4, true, "float"},
    {DType::kFloat64, "float64", 8, true, "double"},
    {DType::kFloat16, "float16", 2, true, "__half"},
    {DType::kBFloat16, "bfloat16", 2, true, "__nv_bfloat16"},
    {DType::kInt8, "int8", 1, false, "signed char"},
    {DType::kUInt8, "uint8", 1, false, "unsigned char"},
    {DType::kInt16, "int16", 2, false, "short"},
    {DType::kInt32, "int32", 4, false, "int"},
    {DType::kInt64, "int64", 8, false, "long long"},
    {DType::kBool, "bool", 1, false, "bool"},
}};

constexpr bool in_order_of_the_enum() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<std::size_t>(kDTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_order_of_the_enum());

}  // namespace

std::span<const DTypeRow> dtypes() { return kDTypes; }

const DTypeRow& dtype_row(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)); }

std::optional<DType> dtype_from_name(std::string_view name) {
  constexpr std::string_view kPrefix = "torch.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto* row = std::ranges::find(kDTypes, name, &DTypeRow::name);
  if (row == kDTypes.end()) return std::nullopt;
  return row->dtype;
}

std::int64_t numel(const Shape& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return product;
}

}  // namespace kbench

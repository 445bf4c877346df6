// SPDX-License-Identifier: MIT
#include "worker/compare/tensor_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kbench/error.hpp"

namespace kbench::worker {
namespace {

constexpr struct {
  DType dtype;
  at::ScalarType scalar;
} kScalarTypes[] = {
    {DType::kFloat32, at::kFloat},     {DType::kFloat64, at::kDouble}, {DType::kFloat16, at::kHalf},
    {DType::kBFloat16, at::kBFloat16}, {DType::kInt8, at::kChar},      {DType::kUInt8, at::kByte},
    {DType::kInt16, at::kShort},       {DType::kInt32, at::kInt},      {DType::kInt64, at::kLong},
    {DType::kBool, at::kBool},
};

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  for (const auto& row : kScalarTypes)
    if (row.dtype == dtype) return row.scalar;
  throw Error("torch has no counterpart of this element type");
}

std::string_view dtype_name(at::ScalarType scalar) {
  for (const auto& row : kScalarTypes)
    if (row.scalar == scalar) return dtype_row(row.dtype).name;
  return at::toString(scalar);
}

std::string shape_text(at::IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// Element types that a tensor of a problem may have; names and sizes as in torch.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt16,
  kInt32,
  kInt64,
  kBool,
};

/// One row per DType: its torch name, bytes per element, and the C++ spelling that kernels use.
struct DTypeRow {
  DType dtype;
  std::string_view name;       ///< "float32", as after "torch."
  std::size_t size_bytes;      ///< of one element
  bool floating;               ///< takes part in precision casts and tolerances
  std::string_view cuda_type;  ///< "float", "__half", "long long", …
};

/// The table of element types, in the order of the enum.
std::span<const DTypeRow> dtypes();
/// The row of `dtype`.
const DTypeRow& dtype_row(DType dtype);
/// The element type of that torch name ("float32", also "torch.float32"), if there is one.
std::optional<DType> dtype_from_name(std::string_view name);

using Shape = std::vector<std::int64_t>;

/// The product of the sizes; 1 for a scalar's empty shape, the largest int64 where it would be
/// more.
std::int64_t numel(const Shape& shape);

}  // namespace kbench

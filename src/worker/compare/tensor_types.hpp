// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

#include "kbench/problem.hpp"

namespace kbench::worker {

/// torch's type for an element type.
at::ScalarType scalar_type(DType dtype);
/// The name of a torch type: kbench's if there is one.
std::string_view dtype_name(at::ScalarType scalar);

/// "[16, 1024]".
std::string shape_text(at::IntArrayRef sizes);

}  // namespace kbench::worker

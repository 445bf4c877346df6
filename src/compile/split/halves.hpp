// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compile/split/rewriter.hpp"
#include "compile/split/sides.hpp"

namespace kbench {

/// The device code, for NVRTC. `rewriter` may already have insertions.
std::string device_code(const SourceUnit& unit, const std::vector<PlacedItem>& items,
                        Rewriter& rewriter);

/// The host code, for the host compiler. `rewriter` may already have insertions. Throws
/// SplitRefusal.
std::string host_code(const SourceUnit& unit, const std::vector<PlacedItem>& items,
                      Rewriter& rewriter);

/// The "#line 1 …" directive of the source.
std::string first_line_directive(const SourceUnit& unit);

}  // namespace kbench

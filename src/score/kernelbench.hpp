// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace kbench {

/// One precision of KernelBench's own evaluation. A run in such a row (`--kb-compat`) judges by
/// KernelBench's rules: its seeds, generator, casts, order of calls, comparison and timing.
struct KernelbenchRow {
  std::string_view name;  ///< as judge and candidate are told
  std::string_view
      precision;     ///< the row of `--precision` that asks for it, and as records have it
  double tolerance;  ///< absolute and relative, as torch.allclose takes them
};

inline constexpr std::array<KernelbenchRow, 3> kKernelbenchRows{
    {{"kb_fp32", "native", 1e-4}, {"kb_fp16", "fp16", 1e-2}, {"kb_bf16", "bf16", 1e-2}}};

/// The row of that name; null for kbench's own precisions.
constexpr const KernelbenchRow* kernelbench_row(std::string_view name) {
  const auto* row = std::ranges::find(kKernelbenchRows, name, &KernelbenchRow::name);
  return row == kKernelbenchRows.end() ? nullptr : row;
}

/// Timed calls of each side, after those that warm up.
inline constexpr int kKernelbenchCalls = 100;
/// Seconds that KernelBench gives one candidate for everything.
inline constexpr double kKernelbenchLimit_s = 180;
/// A speedup above this is marked, and counts all the same.
inline constexpr double kKernelbenchExcessiveSpeedup = 10;

}  // namespace kbench

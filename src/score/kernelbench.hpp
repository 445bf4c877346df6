// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace kbench {

/// One precision of KernelBench's own evaluation. A run with such a row (`--kb-compat`) judges by
/// KernelBench's rules: its seeds, generator, casts, order of calls, comparison and timing.
struct KernelbenchRow {
  std::string_view name;  ///< the name that the judge and the candidate's process get
  std::string_view
      precision;     ///< the value of `--precision` that selects this row, also in records
  double tolerance;  ///< absolute and relative tolerance for torch.allclose
};

inline constexpr std::array<KernelbenchRow, 3> kKernelbenchRows{
    {{"kb_fp32", "native", 1e-4}, {"kb_fp16", "fp16", 1e-2}, {"kb_bf16", "bf16", 1e-2}}};

/// The row of that name; null for kbench's own precisions.
constexpr const KernelbenchRow* kernelbench_row(std::string_view name) {
  const auto* row = std::ranges::find(kKernelbenchRows, name, &KernelbenchRow::name);
  return row == kKernelbenchRows.end() ? nullptr : row;
}

/// Timed calls of each subject, after the warm-up calls.
inline constexpr int kKernelbenchCalls = 100;
/// KernelBench's time limit for one candidate, in seconds.
inline constexpr double kKernelbenchLimit_s = 180;
/// A larger speedup gets a flag; metrics still count it.
inline constexpr double kKernelbenchExcessiveSpeedup = 10;

}  // namespace kbench

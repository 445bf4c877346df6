// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench {

/// Value of a report's `--baseline`: the fastest baseline that a record has.
inline constexpr const char* kBestBaseline = "best";

/// One way to run the reference. Candidates are timed against it.
struct Baseline {
  std::string_view name;
  std::string_view meaning;
  bool tf32 = false;                   ///< with TF32, even if the precision row has none
  std::string_view compile_mode = {};  ///< of torch.compile; empty: not compiled

  bool is_compiled() const { return !compile_mode.empty(); }
};
/// The table of baselines: `--baseline` takes their names.
std::span<const Baseline> baselines();
/// The row of that name, or null.
const Baseline* find_baseline(std::string_view name);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace kbench::worker {

/// Milliseconds on the GPU, from start to end by CUPTI's activity records, of each kernel of that
/// name that `work` runs; it leaves the device idle. Empty where CUPTI is not to be had. For a
/// process that has no KernelLedger.
std::vector<double> kernel_durations_ms(std::string_view name, const std::function<void()>& work);

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// What a host half for the CPU failed for the want of, by its log: a name of torch's namespaces
/// for CUDA that torch's own headers (below one of `includes`) have, or one of these headers. Empty
/// where the first error says nothing of the kind: a name that nobody has is the candidate's fault.
std::string unsupported_on_cpu(std::string_view log,
                               const std::vector<std::filesystem::path>& includes);

}  // namespace kbench

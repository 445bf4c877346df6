// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// What host code for the CPU lacks, by the first error in its log. It is a name in torch's CUDA
/// namespaces that torch's headers (below `includes`) have, or one of these headers. Empty for
/// other errors: a name that torch does not have is the candidate's fault.
std::string unsupported_on_cpu(std::string_view log,
                               const std::vector<std::filesystem::path>& includes);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// The name or header that the CPU emulation lacks, according to the first error in the log of host
/// code: a name from torch's headers (below `includes`) in its CUDA namespaces, or one of its CUDA
/// headers. Empty for other errors. A name that torch does not have is the candidate's fault.
std::string unsupported_on_cpu(std::string_view log,
                               const std::vector<std::filesystem::path>& includes);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "compile/headers/compatibility_headers.hpp"

#include "compile/headers/texts.hpp"

namespace kbench {
namespace {

// kPrelude has the content of all these headers and is usually included before them, so the headers
// themselves can be empty.
constexpr std::string_view kEmpty = "#include <kbench_prelude.h>\n";

constexpr CompatibilityHeader kCompatibilityHeaders[] = {
    {kPrelude, kPreludeText},
    {"kbench/types.h", kTypesText},
    {"kbench/limits.h", kLimitsText},
    {"kbench/math.h", kMathText},
    {"kbench/traits.h", kTraitsText},
    {"kbench/numeric_limits.h", kNumericLimitsText},
    {"kbench/algorithm.h", kAlgorithmText},
    {"kbench/torch.h", kTorchText},
    {"kbench/torch_half.h", kTorchHalfText},
    // C
    {"assert.h", kEmpty},
    {"ctype.h", kEmpty},
    {"errno.h", kEmpty},
    {"float.h", kEmpty},
    {"inttypes.h", kEmpty},
    {"limits.h", kEmpty},
    {"math.h", kEmpty},
    {"stdarg.h", kEmpty},
    {"stdbool.h", kEmpty},
    {"stddef.h", kEmpty},
    {"stdint.h", kEmpty},
    {"stdio.h", kEmpty},
    {"stdlib.h", kEmpty},
    {"string.h", kEmpty},
    {"time.h", kEmpty},
    // C++
    {"algorithm", kEmpty},
    {"array", kEmpty},
    {"cassert", kEmpty},
    {"cfloat", kEmpty},
    {"cinttypes", kEmpty},
    {"climits", kEmpty},
    {"cmath", kEmpty},
    {"concepts", kEmpty},
    {"cstddef", kEmpty},
    {"cstdint", kEmpty},
    {"cstdio", kEmpty},
    {"cstdlib", kEmpty},
    {"cstring", kEmpty},
    {"ctime", kEmpty},
    {"functional", kEmpty},
    {"initializer_list", kEmpty},
    {"limits", kEmpty},
    {"numeric", kEmpty},
    {"type_traits", kEmpty},
    {"utility", kEmpty},
    // Headers for host code, so that a leftover #include does not fail a device-only source.
    // Nothing that they declare is available.
    {"chrono", kEmpty},
    {"iostream", kEmpty},
    {"memory", kEmpty},
    {"stdexcept", kEmpty},
    {"string", kEmpty},
    {"vector", kEmpty},
    // CUDA headers. The parts that device code needs are built into NVRTC, and parsing the rest
    // would be slow.
    {"cuda.h", kEmpty},
    {"cuda_runtime.h", kEmpty},
    {"cuda_runtime_api.h", kEmpty},
    {"cuda_device_runtime_api.h", kEmpty},
    {"device_functions.h", kEmpty},
    {"device_launch_parameters.h", kEmpty},
    {"cub/cub.cuh", kCubText},
};

}  // namespace

std::span<const CompatibilityHeader> compatibility_headers() { return kCompatibilityHeaders; }

}  // namespace kbench

// SPDX-License-Identifier: MIT
//
// Definitions of CUDA's fast mathematical functions. The C library's headers declare the same names
// for internal use without defining them.
#include <cmath>

#define KBENCH_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
KBENCH_HIDDEN float __expf(float x) noexcept { return std::exp(x); }
KBENCH_HIDDEN float __exp10f(float x) noexcept { return std::pow(10.0f, x); }
KBENCH_HIDDEN float __logf(float x) noexcept { return std::log(x); }
KBENCH_HIDDEN float __log2f(float x) noexcept { return std::log2(x); }
KBENCH_HIDDEN float __log10f(float x) noexcept { return std::log10(x); }
KBENCH_HIDDEN float __sinf(float x) noexcept { return std::sin(x); }
KBENCH_HIDDEN float __cosf(float x) noexcept { return std::cos(x); }
KBENCH_HIDDEN float __tanf(float x) noexcept { return std::tan(x); }
KBENCH_HIDDEN float __powf(float x, float y) noexcept { return std::pow(x, y); }
}

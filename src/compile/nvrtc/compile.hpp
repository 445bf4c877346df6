// SPDX-License-Identifier: MIT
#pragma once

#include "compile/nvrtc/api.hpp"
#include "compile/wire.hpp"

namespace kbench {

/// Compiles one source in this process; a source may crash it. The request's flags are options for
/// NVRTC, already checked.
CompileResult nvrtc_compile(const NvrtcApi& nvrtc, const CompilerJob& job);

}  // namespace kbench

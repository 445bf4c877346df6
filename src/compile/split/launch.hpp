// SPDX-License-Identifier: MIT
#pragma once

#include "compile/split/rewriter.hpp"
#include "compile/split/tokens.hpp"

namespace kbench {

/// Rewrites each `kernel<<<configuration>>>(arguments)` in [begin, end), also in #defines, to a
/// configuration and a call of the kernel's stub:
/// `(::kbench_split::configure(configuration), kernel(arguments))`. Throws SplitRefusal.
void rewrite_launches(const SourceText& text, std::size_t begin, std::size_t end,
                      Rewriter& rewriter);

/// True if there is a launch in [begin, end).
bool has_launch(const SourceText& text, std::size_t begin, std::size_t end);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include "compile/split/rewriter.hpp"
#include "compile/split/sides.hpp"

namespace kbench {

/// Makes of each device lambda in a host function a class template before that function, in both
/// halves, whose members are what the lambda captures, so that a kernel's instance by it has a
/// name. `count` numbers them over the source. Throws SplitRefusal.
void rewrite_lambdas(const SourceUnit& unit, const SourceItem& function, Rewriter& device,
                     Rewriter& host, int& count);

/// The first `[…] __device__` in [begin, end), or kNoToken.
std::size_t find_device_lambda(const SourceText& text, std::size_t begin, std::size_t end);

}  // namespace kbench

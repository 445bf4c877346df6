// SPDX-License-Identifier: MIT
#pragma once

#include "compile/split/rewriter.hpp"
#include "compile/split/sides.hpp"

namespace kbench {

/// Replaces each device lambda in a host function by a class template before that function, in
/// device code and host code. The lambda's captures become its members. A kernel instantiated with
/// this class has a name; one with a lambda has none. `count` numbers the lambdas of the source.
/// Throws SplitRefusal.
void rewrite_lambdas(const SourceUnit& unit, const SourceItem& function, Rewriter& device,
                     Rewriter& host, int& count);

/// The first `[…] __device__` in [begin, end), or kNoToken.
std::size_t find_device_lambda(const SourceText& text, std::size_t begin, std::size_t end);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include "base/hash.hpp"
#include "compile/content_cache.hpp"
#include "compile/host/host_compile.hpp"
#include "compile/host/wire.hpp"

namespace kbench {

/// Adds all fields of a request that affect the result, except its device and budget.
void add(Sha256& hash, const HostRequest& request);

/// A cache of host compiles.
using HostCache = ResultCache<HostResult, unpack_host_result>;

}  // namespace kbench

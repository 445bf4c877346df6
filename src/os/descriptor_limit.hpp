// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// Raises this process's limit of descriptors to the user's maximum; the initial limit is often far
/// lower. Each buffer that judge and candidate share takes a descriptor. The kernel also refuses to
/// pass descriptors if the user has more in flight than this limit.
void raise_descriptor_limit();

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// Raises this process's limit of descriptors to the user's maximum, because sessions often begin
/// with far fewer. Each buffer that judge and candidate share takes one. The kernel passes
/// descriptors only while the user has fewer in flight than this limit.
void raise_descriptor_limit();

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// From here on this process may have as many descriptors as its user allows: sessions often begin
/// with far fewer. Buffers that judge and candidate share take one each, and a process passes
/// descriptors only while its user has fewer of them in flight than it may have open.
void raise_descriptor_limit();

}  // namespace kbench

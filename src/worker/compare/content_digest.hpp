// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "worker/device/digest_key.hpp"

namespace kbench::worker {

/// A 64-bit digest of a dense tensor's bytes under digest_key(), computed on its device: a sum of
/// one part per word. The last word is zero-padded.
std::int64_t content_digest(const at::Tensor& tensor);

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "problem/signature_cache.hpp"

namespace kbench {

/// The number to raise whenever the bytes of an entry change.
inline constexpr int kSignatureSchema = 3;

/// `result` as bytes of this machine: a model with thousands of attributes decodes in well under a
/// millisecond, where JSON takes tens of them.
std::string encode(const SignatureResult& result);

/// The inverse of `encode`; nothing where the bytes are damaged.
std::optional<SignatureResult> decode_signature(std::string_view bytes);

/// Appends the length of `field` and `field`.
void append_field(std::string& bytes, std::string_view field);

/// Removes a field that `append_field` wrote from the front of `bytes`; false where it is cut off.
bool take_field(std::string_view& bytes, std::string_view& field);

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "kbench/ptx.hpp"
#include "kbench/record.hpp"
#include "protocol/protocol.hpp"

/// Conversions of findings from the executor to a record.
namespace kbench::worker {

/// The mode with that name in `--sanitize`. Throws kbench::Error for another name.
ptx::Sanitize sanitize_from_name(std::string_view name);

/// "fault", or the flag that findings of this kind raise.
std::string_view to_string(ptx::FindingKind kind);

/// Copies as much of a text as fits; the last byte stays 0.
template <std::size_t size>
void put(char (&field)[size], std::string_view text) {
  text.copy(field, size - 1);
}

protocol::FindingBody to_body(const ptx::Finding& finding);
/// Converts the body of a message, which may contain any bytes.
Finding from_body(const protocol::FindingBody& body);

/// Adds findings to those of earlier launches. A finding at a known place increases that one's
/// count. At most kMaxFindings are kept.
void merge(std::vector<Finding>& all, const std::vector<Finding>& more);

}  // namespace kbench::worker

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "kbench/ptx.hpp"
#include "kbench/record.hpp"
#include "protocol/protocol.hpp"

/// Findings on their way from the executor into a record.
namespace kbench::worker {

/// The name of `--sanitize` for it, and back; throws kbench::Error for another name.
ptx::Sanitize sanitize_from_name(std::string_view name);

/// "fault", or the flag that findings of this kind raise.
std::string_view to_string(ptx::FindingKind kind);

/// What fits of a text; the last byte stays.
template <std::size_t size>
void put(char (&field)[size], std::string_view text) {
  text.copy(field, size - 1);
}

protocol::FindingBody to_body(const ptx::Finding& finding);
/// What stands in a message, whatever its bytes are.
Finding from_body(const protocol::FindingBody& body);

/// Adds findings to those of earlier launches: one at the same place is counted there, and no more
/// than kMaxFindings are kept.
void merge(std::vector<Finding>& all, const std::vector<Finding>& more);

}  // namespace kbench::worker

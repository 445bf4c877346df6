// SPDX-License-Identifier: MIT
#include "worker/device/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kbench/error.hpp"

namespace kbench::worker {
namespace {

constexpr std::string_view kFindingKinds[] = {"fault", "uninitialized_read", "barrier_divergence",
                                              "shared_race", "global_race"};
constexpr std::string_view kSanitize[] = {"none", "memory", "all"};

template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

}  // namespace

ptx::Sanitize sanitize_from_name(std::string_view name) {
  const auto found = std::ranges::find(kSanitize, name);
  if (found == std::end(kSanitize)) throw Error(fmt::format("unknown sanitizer '{}'", name));
  return static_cast<ptx::Sanitize>(found - std::begin(kSanitize));
}

std::string_view to_string(ptx::FindingKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kFindingKinds) ? kFindingKinds[at] : kFindingKinds[0];
}

protocol::FindingBody to_body(const ptx::Finding& finding) {
  protocol::FindingBody body{};
  body.kind = static_cast<std::uint32_t>(finding.kind);
  body.line = finding.line;
  std::ranges::copy(finding.block, body.block);
  std::ranges::copy(finding.thread, body.thread);
  body.offset_bytes = finding.offset_bytes;
  body.count = finding.count;
  put(body.kernel, finding.kernel);
  put(body.file, finding.file);
  put(body.region, finding.region);
  put(body.message, finding.message);
  return body;
}

Finding from_body(const protocol::FindingBody& body) {
  Finding finding;
  finding.kind = std::string(to_string(static_cast<ptx::FindingKind>(body.kind & 0xffu)));
  finding.kernel = text_of(body.kernel);
  finding.file = text_of(body.file);
  finding.line = body.line;
  std::ranges::copy(body.block, finding.block.begin());
  std::ranges::copy(body.thread, finding.thread.begin());
  finding.region = text_of(body.region);
  finding.offset_bytes = body.offset_bytes;
  finding.message = text_of(body.message);
  finding.count = body.count;
  return finding;
}

void merge(std::vector<Finding>& all, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const auto known =
        std::ranges::find_if(all, [&](const Finding& other) { return same_place(other, finding); });
    if (known != all.end()) {
      known->count += finding.count;
    } else if (all.size() < kMaxFindings) {
      all.push_back(finding);
    }
  }
}

}  // namespace kbench::worker

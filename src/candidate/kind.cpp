// SPDX-License-Identifier: MIT
#include <array>

#include "kbench/candidate.hpp"

namespace kbench {
namespace {

struct KindRow {
  CandidateKind kind;
  std::string_view name;
};
constexpr std::array<KindRow, 3> kKinds = {{
    {CandidateKind::kKernel, "kernel"},
    {CandidateKind::kExtension, "extension"},
    {CandidateKind::kModule, "module"},
}};

}  // namespace

std::string_view to_string(CandidateKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row.name;
  }
  return "";
}

std::optional<CandidateKind> candidate_kind_from_name(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

}  // namespace kbench

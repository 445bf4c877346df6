// SPDX-License-Identifier: MIT
#include "ptx/random/cases.hpp"

#include <fmt/format.h>

#include <sstream>

namespace kbench::ptx::random {
namespace {

constexpr std::string_view kFamilies[] = {"exact", "row", "approximate"};

const std::vector<Row>& all_rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> list;
    for (std::size_t group = 0; group < kGroups; ++group) {
      const auto table = rows(static_cast<Group>(group));
      list.insert(list.end(), table.begin(), table.end());
    }
    return list;
  }();
  return all;
}

void append_single(std::vector<Case>& list, std::uint64_t seed, std::uint64_t row_seeds,
                   std::uint64_t approximate_seeds) {
  for (std::uint64_t s = seed; s < seed + row_seeds; ++s) {
    for (std::size_t i = 0; i < all_rows().size(); ++i) list.push_back({Family::kRow, i, s});
  }
  for (std::uint64_t s = seed; s < seed + approximate_seeds; ++s) {
    for (std::size_t i = 0; i < approximations().size(); ++i) {
      list.push_back({Family::kApproximate, i, s});
    }
  }
}

}  // namespace

std::string name(const Case& c) {
  const auto family = kFamilies[static_cast<std::size_t>(c.family)];
  if (c.family == Family::kExact) return fmt::format("{} {}", family, c.seed);
  return fmt::format("{} {} {}", family, c.index, c.seed);
}

Case parse_case(const std::string& text) {
  std::istringstream in(text);
  std::string family;
  Case c;
  in >> family;
  while (c.family != Family::kApproximate &&
         kFamilies[static_cast<std::size_t>(c.family)] != family) {
    c.family = static_cast<Family>(static_cast<int>(c.family) + 1);
  }
  if (c.family != Family::kExact) in >> c.index;
  in >> c.seed;
  return c;
}

Kernel make(const Case& c) {
  if (c.family == Family::kExact) return exact_kernel(c.seed);
  if (c.family == Family::kRow) return row_kernel(c.seed, all_rows().at(c.index));
  const auto table = approximations();
  return approximate_kernel(c.seed, table[c.index % table.size()]);
}

std::string instruction(const Case& c) {
  if (c.family == Family::kExact) return {};
  if (c.family == Family::kRow) return std::string(all_rows().at(c.index).text);
  return std::string(approximations()[c.index].instruction);
}

std::vector<Case> cases(std::uint64_t seed, std::size_t count) {
  std::vector<Case> list;
  for (std::uint64_t s = 0; s < (count + 1) / 2; ++s) list.push_back({Family::kExact, 0, seed + s});
  for (std::uint64_t s = seed; list.size() < count; ++s) append_single(list, s, 1, 1);
  return list;
}

std::vector<Case> golden_cases() {
  constexpr std::uint64_t kGoldenKernels = 400;
  std::vector<Case> list;
  for (std::uint64_t s = 0; s < kGoldenKernels; ++s) list.push_back({Family::kExact, 0, s});
  append_single(list, 0, 2, 1);
  return list;
}

}  // namespace kbench::ptx::random

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kbench::worker {

/// WrongPlaces::residues has this many entries.
inline constexpr std::int64_t kResidues = 1024;

/// Counts of an output's wrong elements. Elements are numbered in the order of their indices, the
/// last dimension fastest.
struct WrongPlaces {
  std::vector<std::int64_t> shape;
  std::int64_t wrong = 0;
  std::int64_t first = 0, last = 0;  ///< numbers of the first and the last wrong element
  /// By dimension and index in it; empty for a dimension that is too long to count.
  std::vector<std::vector<std::int64_t>> counts;
  std::vector<std::int64_t> residues;  ///< by the element's number modulo kResidues
};

/// The regular set of elements that fits the wrong ones best: "the last 128 elements", "rows 64 to
/// 127", "every 4th column, from column 3", "all elements". Begins with "nearly all of" or "only
/// in" if not all of its elements are wrong. Empty if there is no such set.
std::string where_wrong(const WrongPlaces& places);

}  // namespace kbench::worker

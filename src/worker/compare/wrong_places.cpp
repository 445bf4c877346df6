// SPDX-License-Identifier: MIT
#include "worker/compare/wrong_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>

namespace kbench::worker {
namespace {

/// A set is worth naming if it has at most this fraction of all elements.
constexpr double kMostOfAll = 0.9;
/// From this fraction of wrong elements on, nearly all elements of a set are wrong. Others may be
/// right by chance.
constexpr double kNearlyAll = 0.9;
/// A set is preferred to a simpler one if it has at most this fraction of its elements.
constexpr double kSmaller = 0.9;
/// Fewer wrong elements per index may have these indices by chance.
constexpr std::int64_t kLeastPerIndex = 8;
/// Fewer wrong elements may all lie in one half by chance.
constexpr std::int64_t kLeastInHalf = 16;

/// A set of elements that has all wrong ones.
struct Region {
  std::int64_t elements = 0;
  std::string text;
  int parts = 1;  ///< of the text
};

std::string ordinal(std::int64_t number) {
  const std::int64_t tens = number / 10 % 10;
  const std::int64_t ones = tens == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th");
}

/// The words for an index of a dimension, and what follows them.
struct Words {
  std::string_view one, many;
  std::string of;
};

Words words_for(std::size_t rank, std::size_t dimension) {
  if (rank == 1) return {"element", "elements", ""};
  if (rank == 2) return dimension == 0 ? Words{"row", "rows", ""} : Words{"column", "columns", ""};
  return {"index", "indices", fmt::format(" of dimension {}", dimension)};
}

/// The indices with wrong elements.
std::vector<std::int64_t> indices_in(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) indices.push_back(static_cast<std::int64_t>(i));
  return indices;
}

bool is_range(const std::vector<std::int64_t>& indices) {
  return indices.back() - indices.front() + 1 == static_cast<std::int64_t>(indices.size());
}

std::string range_text(std::int64_t begin, std::int64_t end, std::int64_t size,
                       const Words& words) {
  const std::int64_t count = end - begin;
  if (count == 1) return fmt::format("{} {}{}", words.one, begin, words.of);
  if (end == size) return fmt::format("the last {} {}{}", count, words.many, words.of);
  if (begin == 0) return fmt::format("the first {} {}{}", count, words.many, words.of);
  return fmt::format("{} {} to {}{}", words.many, begin, end - 1, words.of);
}

/// All indices below `size` with these residues modulo `period`.
std::optional<std::string> periodic_text(const std::vector<std::int64_t>& residues,
                                         std::int64_t period, const Words& words) {
  if (residues.size() == 1)
    return fmt::format("every {} {}{}, from {}{}", ordinal(period), words.one, words.of,
                       words.of.empty() ? std::string(words.one) + " " : "", residues.front());
  if (!is_range(residues)) return std::nullopt;
  return fmt::format("{}{} whose number modulo {} is {} to {}", words.many, words.of, period,
                     residues.front(), residues.back());
}

/// How many indices below `size` have these residues modulo `period`.
std::int64_t count_with(const std::vector<std::int64_t>& residues, std::int64_t period,
                        std::int64_t size) {
  return std::accumulate(residues.begin(), residues.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::int64_t residue) {
                           return sum + (size - residue + period - 1) / period;
                         });
}

std::string indices_text(const std::vector<std::int64_t>& indices, std::int64_t size,
                         const Words& words) {
  if (is_range(indices)) return range_text(indices.front(), indices.back() + 1, size, words);
  // At least three periods, because any two indices have a distance.
  for (std::int64_t period = 2; 3 * period <= size && period <= kResidues; ++period) {
    std::vector<std::int64_t> residues;
    for (const std::int64_t index : indices) residues.push_back(index % period);
    std::ranges::sort(residues);
    const auto same = std::ranges::unique(residues);
    residues.erase(same.begin(), same.end());
    const auto found = static_cast<std::int64_t>(indices.size());
    if (count_with(residues, period, size) != found) continue;
    if (auto text = periodic_text(residues, period, words)) return *text;
  }
  return fmt::format("{} of {} {}{}", indices.size(), size, words.many, words.of);
}

/// The product of the indices with wrong elements.
std::optional<Region> box_of(const WrongPlaces& places) {
  Region box{.elements = 1, .text = {}, .parts = 0};
  bool is_chance = false;
  const std::size_t rank = places.shape.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = places.shape[i];
    const auto indices = indices_in(places.counts[i]);
    const auto count = static_cast<std::int64_t>(indices.size());
    if (indices.empty() || count == size) {
      box.elements *= size;
      continue;
    }
    box.elements *= count;
    ++box.parts;
    is_chance = is_chance || places.wrong < kLeastPerIndex * count;
    box.text += (box.text.empty() ? "" : ", ") + indices_text(indices, size, words_for(rank, i));
  }
  if (box.text.empty() || (is_chance && box.elements != places.wrong)) return std::nullopt;
  return box;
}

/// Elements that follow one another.
std::optional<Region> run_of(const WrongPlaces& places, std::int64_t elements) {
  const std::int64_t length = places.last - places.first + 1;
  const bool may_be_chance = places.wrong < kLeastInHalf || 2 * length > elements;
  if (may_be_chance && length != places.wrong) return std::nullopt;
  return Region{length,
                range_text(places.first, places.last + 1, elements, {"element", "elements", ""})};
}

/// Elements at a distance that is a power of two, as vectors, warps and blocks have it.
std::optional<Region> stride_of(const WrongPlaces& places, std::int64_t elements) {
  if (places.wrong < kLeastPerIndex) return std::nullopt;
  std::vector<std::int64_t> counts = places.residues;
  std::optional<Region> region;
  for (std::int64_t period = kResidues; period >= 2; period /= 2) {
    counts.resize(static_cast<std::size_t>(period));
    const auto residues = indices_in(counts);
    const std::int64_t size = count_with(residues, period, elements);
    const bool is_tightest = !region || size <= region->elements;
    const bool is_regular = 3 * period <= elements && static_cast<double>(places.wrong) >=
                                                          kNearlyAll * static_cast<double>(size);
    if (is_tightest && is_regular)
      if (auto text = periodic_text(residues, period, {"element", "elements", ""}))
        region = Region{size, *text};
    for (std::int64_t i = 0; i < period / 2; ++i)
      counts[static_cast<std::size_t>(i)] += counts[static_cast<std::size_t>(i + period / 2)];
  }
  return region;
}

}  // namespace

std::string where_wrong(const WrongPlaces& places) {
  const std::int64_t elements = std::accumulate(places.shape.begin(), places.shape.end(),
                                                std::int64_t{1}, std::multiplies<>());
  if (places.wrong == elements) return "all elements";
  if (places.wrong < 2) return {};
  std::optional<Region> best;
  const auto is_better = [&](const Region& a, const Region& b) {
    const bool is_exact = a.elements == places.wrong;
    if (is_exact != (b.elements == places.wrong)) return is_exact;
    const bool is_smaller =
        static_cast<double>(a.elements) < kSmaller * static_cast<double>(b.elements);
    return is_smaller || (a.elements <= b.elements && a.parts < b.parts);
  };
  for (auto& region : {box_of(places), run_of(places, elements), stride_of(places, elements)})
    if (region && (!best || is_better(*region, *best))) best = region;
  if (!best || static_cast<double>(best->elements) > kMostOfAll * static_cast<double>(elements))
    return {};
  if (best->elements == places.wrong) return best->text;
  const bool is_dense =
      static_cast<double>(places.wrong) >= kNearlyAll * static_cast<double>(best->elements);
  return fmt::format("{} {}", is_dense ? "nearly all of" : "only in", best->text);
}

}  // namespace kbench::worker

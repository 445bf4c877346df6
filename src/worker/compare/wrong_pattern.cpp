// SPDX-License-Identifier: MIT
#include "worker/compare/wrong_pattern.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "worker/compare/wrong_places.hpp"

namespace kbench::worker {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
/// Longer dimensions are not counted by index.
constexpr std::int64_t kMostIndices = 1 << 16;
/// Fewer values may follow a rule by chance.
constexpr std::int64_t kLeastValues = 4;
/// A rule with one free number fits few values too easily.
constexpr std::int64_t kLeastFitted = 8;

/// The numbers that agree with all values so far.
struct Interval {
  double lo = -kInf, hi = kInf;

  /// Intersects it with one interval for each element.
  void narrow(const at::Tensor& least, const at::Tensor& most) {
    const double new_lo = least.max().item<double>();
    const double new_hi = most.min().item<double>();
    // A NaN fits no rule.
    lo = std::isnan(new_lo) ? kInf : std::max(lo, new_lo);
    hi = std::isnan(new_hi) ? -kInf : std::min(hi, new_hi);
  }
  bool contains(double value) const { return lo <= value && value <= hi; }
  /// The shortest number in it, with at most four digits; nothing if there is none. `right`: the
  /// number that right values have; an interval with it says nothing about wrong ones.
  std::optional<std::string> number(double right) const {
    if (!std::isfinite(lo) || !std::isfinite(hi) || contains(right)) return std::nullopt;
    for (const int digits : {1, 2, 3, 4}) {
      const std::string text = fmt::format("{:.{}g}", lo / 2 + hi / 2, digits);
      const double value = std::strtod(text.c_str(), nullptr);
      if (contains(value)) return fmt::format("{:.{}g}", value, digits);
    }
    return std::nullopt;
  }
};

/// What the wrong elements have in common, from chunk to chunk.
class Values {
 public:
  void add(const at::Tensor& expected, const at::Tensor& got, double tolerance, double scale) {
    count_ += got.numel();
    nan_ += got.isnan().sum().item<std::int64_t>();
    const auto value = got.to(at::kDouble);
    least_ = std::min(least_, value.min().item<double>());
    most_ = std::max(most_, value.max().item<double>());
    const auto e = expected.to(at::kDouble);
    const auto slack = (e.abs() + scale) * tolerance;
    offset_.narrow(value - e - slack, value - e + slack);
    // A factor c agrees with an element if |value − c · e| <= slack.
    const auto nonzero = e.ne(0);
    const auto size = at::where(nonzero, e.abs(), at::ones({}, e.options()));
    const auto signed_value = value * e.sign();
    const auto fits = value.abs().le(slack);
    const auto free = nonzero.logical_not().logical_and(fits);
    const auto none = nonzero.logical_not().logical_and(fits.logical_not());
    const auto inf = at::full({}, kInf, e.options());
    const auto least = at::where(free, -inf, at::where(none, inf, (signed_value - slack) / size));
    const auto most = at::where(free, inf, at::where(none, -inf, (signed_value + slack) / size));
    factor_.narrow(least, most);
  }

  std::string text() const {
    if (count_ < kLeastValues) return {};
    if (nan_ == count_) return "all nan";
    if (nan_ > 0) return fmt::format("{} of them nan", nan_);
    if (least_ == most_) return fmt::format("all {:.4g}", least_ + 0.0);  // no "-0"
    if (count_ < kLeastFitted) return {};
    if (const auto number = factor_.number(1))
      return *number == "-1" ? "each with the opposite sign"
                             : fmt::format("each {} times the expected value", *number);
    if (const auto number = offset_.number(0))
      return number->front() == '-'
                 ? fmt::format("each {} below the expected value", number->substr(1))
                 : fmt::format("each {} above the expected value", *number);
    return {};
  }

 private:
  std::int64_t count_ = 0, nan_ = 0;
  double least_ = kInf, most_ = -kInf;
  Interval factor_, offset_;
};

/// Counts the places of wrong elements.
class Places {
 public:
  explicit Places(const at::Tensor& tensor) {
    places_.shape = tensor.sizes().vec();
    const auto options = tensor.options().dtype(at::kLong);
    for (const std::int64_t size : places_.shape)
      counts_.push_back(size <= kMostIndices ? at::zeros({size}, options) : at::Tensor());
    residues_ = at::zeros({kResidues}, options);
  }

  /// `numbers`: those of wrong elements, in order.
  void add(const at::Tensor& numbers) {
    if (places_.wrong == 0) places_.first = numbers[0].item<std::int64_t>();
    places_.last = numbers[-1].item<std::int64_t>();
    places_.wrong += numbers.numel();
    residues_ += at::bincount(numbers.remainder(kResidues), {}, kResidues);
    at::Tensor rest = numbers;
    for (std::size_t i = counts_.size(); i-- > 0;) {
      const std::int64_t size = places_.shape[i];
      if (counts_[i].defined()) counts_[i] += at::bincount(rest.remainder(size), {}, size);
      rest = rest.div(size, "floor");
    }
  }

  WrongPlaces take() {
    for (const at::Tensor& counts : counts_)
      places_.counts.push_back(counts.defined() ? vector_of(counts) : std::vector<std::int64_t>());
    places_.residues = vector_of(residues_);
    return std::move(places_);
  }

 private:
  static std::vector<std::int64_t> vector_of(const at::Tensor& tensor) {
    const auto own = tensor.cpu();
    const auto* data = own.const_data_ptr<std::int64_t>();
    return {data, data + own.numel()};
  }

  WrongPlaces places_;
  std::vector<at::Tensor> counts_;
  at::Tensor residues_;
};

/// "12 %" of this many elements; neither 0 % nor 100 % if that is not exact.
std::string share_text(std::int64_t wrong, std::int64_t elements) {
  if (wrong == elements) return "all";
  const double percent = 100.0 * static_cast<double>(wrong) / static_cast<double>(elements);
  return percent > 99 ? "over 99 %" : fmt::format("{:.2g} %", percent);
}

}  // namespace

std::optional<WrongPattern> wrong_pattern(const at::Tensor& expected, const at::Tensor& got,
                                          double tolerance, const ComparisonRule& rule,
                                          const Settle& settle) {
  if (expected.numel() > kMostPatternElements) return std::nullopt;
  Values values;
  Places places(expected);
  // Integers have to be equal.
  const double allowed = expected.is_floating_point() ? tolerance : 0;
  visit_wrong(expected, got, tolerance, rule, settle, [&](const WrongChunk& chunk) {
    const auto at = chunk.wrong.nonzero().view(-1);
    places.add(at + chunk.begin);
    values.add(chunk.expected.index_select(0, at), chunk.got.index_select(0, at), allowed,
               chunk.scale);
  });
  const WrongPlaces found = places.take();
  if (found.wrong == 0) return std::nullopt;
  return WrongPattern{.output = 0,
                      .wrong = found.wrong,
                      .elements = expected.numel(),
                      .where = where_wrong(found),
                      .values = values.text()};
}

std::string to_text(const WrongPattern& pattern) {
  std::string text =
      fmt::format("{} of output {}", share_text(pattern.wrong, pattern.elements), pattern.output);
  std::string_view before = ": ";
  for (const std::string* part : {&pattern.where, &pattern.values}) {
    if (part->empty() || (part == &pattern.where && pattern.wrong == pattern.elements)) continue;
    text += fmt::format("{}{}", before, *part);
    before = ", ";
  }
  return text;
}

}  // namespace kbench::worker

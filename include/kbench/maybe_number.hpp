// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>

namespace kbench {

/// A number that may be missing, in the eight bytes of a number: of the times in a hundred thousand
/// records, std::optional would make half the memory flags. What is no number is missing, as in a
/// run file, where both are null. Otherwise as std::optional<double>.
class MaybeNumber {
 public:
  constexpr MaybeNumber() = default;
  constexpr MaybeNumber(std::nullopt_t /*none*/) {}         // NOLINT: stands for a number
  constexpr MaybeNumber(double value) : value_(value) {}    // NOLINT
  constexpr MaybeNumber(const std::optional<double>& from)  // NOLINT
      : value_(from.value_or(kNone)) {}
  constexpr operator std::optional<double>() const {  // NOLINT
    return has_value() ? std::optional(value_) : std::nullopt;
  }

  constexpr bool has_value() const { return value_ == value_; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr double operator*() const { return value_; }
  constexpr double value_or(double other) const { return has_value() ? value_ : other; }

  friend constexpr bool operator==(MaybeNumber a, MaybeNumber b) {
    return a.has_value() ? a.value_ == b.value_ : !b.has_value();
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double value_ = kNone;
};

}  // namespace kbench

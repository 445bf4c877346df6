// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <compare>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// An immutable string; equal ones are kept once, for the life of the process. Texts that recur in
/// a hundred thousand records (models, problems, devices, hashes) thus take eight bytes each, and
/// equality compares pointers. Only for texts that recur. Any thread may make one.
class Interned {
 public:
  Interned() = default;
  Interned(std::string_view text);  // NOLINT: implicit on purpose
  Interned(const std::string& text) : Interned(std::string_view(text)) {}  // NOLINT
  Interned(const char* text) : Interned(std::string_view(text)) {}         // NOLINT

  const std::string& str() const { return text_ != nullptr ? *text_ : none(); }
  operator const std::string&() const { return str(); }  // NOLINT
  operator std::string_view() const { return str(); }    // NOLINT
  const char* c_str() const { return str().c_str(); }
  bool empty() const { return text_ == nullptr; }
  std::size_t size() const { return str().size(); }

  friend bool operator==(const Interned& a, const Interned& b) { return a.text_ == b.text_; }
  friend bool operator==(const Interned& a, std::string_view b) { return a.str() == b; }
  friend bool operator==(const Interned& a, const std::string& b) { return a.str() == b; }
  friend bool operator==(const Interned& a, const char* b) { return a.str() == b; }
  /// Ordered by text.
  friend std::strong_ordering operator<=>(const Interned& a, const Interned& b) {
    if (a.text_ == b.text_) return std::strong_ordering::equal;
    return a.str().compare(b.str()) < 0 ? std::strong_ordering::less
                                        : std::strong_ordering::greater;
  }
  friend std::string operator+(const Interned& a, std::string_view b) {
    return a.str() + std::string(b);
  }
  friend std::string operator+(std::string_view a, const Interned& b) {
    return std::string(a) + b.str();
  }

 private:
  friend struct std::hash<Interned>;
  static const std::string& none();
  const std::string* text_ = nullptr;  ///< null for the empty text
};

std::ostream& operator<<(std::ostream& out, const Interned& text);

}  // namespace kbench

template <>
struct std::hash<kbench::Interned> {
  std::size_t operator()(const kbench::Interned& text) const noexcept {
    return std::hash<const void*>()(text.text_);
  }
};

template <>
struct fmt::formatter<kbench::Interned> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const kbench::Interned& text, Context& context) const {
    return fmt::formatter<std::string_view>::format(text.str(), context);
  }
};

namespace kbench {

/// A number that may be missing, in eight bytes; std::optional<double> takes sixteen, which adds up
/// in a hundred thousand records. NaN counts as missing, as in a run file, where both are null.
/// Otherwise like std::optional<double>.
class MaybeNumber {
 public:
  constexpr MaybeNumber() = default;
  constexpr MaybeNumber(std::nullopt_t /*none*/) {}         // NOLINT: implicit on purpose
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

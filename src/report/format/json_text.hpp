// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json/dumped.hpp"
#include "kbench/values.hpp"

namespace kbench::report {

/// A JSON object as text, built field by field. With 100,000 rows nlohmann::json would spend most
/// of its time on allocation.
class JsonText {
 public:
  JsonText() = default;
  /// Reserves this many bytes.
  explicit JsonText(std::size_t bytes) { text_.reserve(bytes); }

  /// Adds a field: text, number, bool, nlohmann::json, JsonText, or a list or optional of these. An
  /// empty optional and a number that is not finite become null.
  template <typename T>
  JsonText& field(std::string_view name, const T& value) {
    begin(name);
    append(value);
    return *this;
  }
  /// Adds a field whose value `text` is already JSON.
  JsonText& raw(std::string_view name, std::string_view text) {
    begin(name);
    text_ += text;
    return *this;
  }

  /// The object as text; moves it out, so call it once.
  std::string text() && {
    text_ += text_.empty() ? "{}" : "}";
    return std::move(text_);
  }

 private:
  /// `name` is not escaped, because all names are kbench's own.
  void begin(std::string_view name) {
    text_.append(text_.empty() ? "{\"" : ",\"").append(name).append("\":");
  }

  template <typename T>
  void append(const T& value) {
    if constexpr (std::convertible_to<T, std::string_view>) {
      append_text(value);
    } else if constexpr (std::floating_point<T>) {
      append_number(value);
    } else if constexpr (std::integral<T>) {
      append_digits(value);
    } else {
      append_other(value);
    }
  }

  template <typename T>
  void append_other(const std::optional<T>& value) {
    if (value) {
      append(*value);
    } else {
      text_ += "null";
    }
  }
  void append_other(MaybeNumber value) { append_other(std::optional<double>(value)); }
  template <typename T>
  void append_other(const std::vector<T>& list) {
    text_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) text_ += ',';
      append(list[i]);
    }
    text_ += ']';
  }
  void append_other(const JsonText& object) { text_ += JsonText(object).text(); }
  void append_other(const nlohmann::json& value) { text_ += dumped(value); }

  void append_number(double value) {
    if (!std::isfinite(value)) {
      text_ += "null";
      return;
    }
    const std::size_t at = text_.size();
    append_digits(value);
    // A floating-point number must not look like an integer.
    if (text_.find_first_of(".e", at) == std::string::npos) text_ += ".0";
  }

  template <typename Number>
  void append_digits(Number value) {
    if constexpr (std::is_same_v<Number, bool>) {
      text_ += value ? "true" : "false";
    } else {
      std::array<char, 32> digits;  // the longest double has 24
      char* end = fmt::format_to(digits.data(), FMT_COMPILE("{}"), value);
      text_.append(digits.data(), end);
    }
  }

  void append_text(std::string_view text) {
    const bool is_plain = std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
    if (is_plain) {
      text_.append("\"").append(text).append("\"");
    } else {
      text_ += dumped(nlohmann::json(text));
    }
  }

  std::string text_;
};

}  // namespace kbench::report

// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/view.hpp"
#include "kbench/error.hpp"

namespace kbench {

/// Reads the fields of one JSON object. Throws kbench::Error that names a missing field or one of a
/// wrong type. Refers to the object, which must outlive it.
class Fields {
 public:
  explicit Fields(JsonView object) : object_(object) {
    if (!object.is_object()) throw Error("is not an object");
  }

  /// The field; nothing if it is missing or null.
  std::optional<JsonView> maybe(std::string_view field) const {
    const std::optional<JsonView> found = object_.find(field);
    return found && !found->is_null() ? found : std::nullopt;
  }

  std::string_view text(std::string_view field) const { return text_of(at(field), field); }
  std::string string(std::string_view field) const { return std::string(text(field)); }

  /// "" if the field is missing or null.
  std::string maybe_text(std::string_view field) const {
    return maybe(field) ? string(field) : std::string();
  }

  static std::string_view text_of(JsonView value, std::string_view field) {
    const std::optional<std::string_view> text = value.text();
    if (!text) throw wrong_type(field, "a string");
    return *text;
  }

  template <typename T>
  T integer(std::string_view field) const {
    return integer_of<T>(at(field), field);
  }

  template <typename T>
  static T integer_of(JsonView value, std::string_view field) {
    if (const auto natural = value.natural()) {
      if (std::in_range<T>(*natural)) return static_cast<T>(*natural);
    } else if (const auto negative = value.negative()) {
      if (std::in_range<T>(*negative)) return static_cast<T>(*negative);
    }
    throw wrong_type(field, "an integer in range");
  }

  /// A number; NaN if the field is null.
  double number(std::string_view field) const {
    const JsonView value = at(field);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    return number_of(value, field);
  }

  std::optional<double> maybe_number(std::string_view field) const {
    const std::optional<JsonView> value = maybe(field);
    return value ? std::optional(number_of(*value, field)) : std::nullopt;
  }

  bool boolean(std::string_view field) const {
    const std::optional<bool> value = at(field).boolean();
    if (!value) throw wrong_type(field, "true or false");
    return *value;
  }

  JsonView array(std::string_view field) const {
    const JsonView value = at(field);
    if (!value.is_array()) throw wrong_type(field, "an array");
    return value;
  }

  std::vector<std::string> texts(std::string_view field) const {
    std::vector<std::string> all;
    for (const JsonView item : array(field)) all.emplace_back(text_of(item, field));
    return all;
  }

  /// An array of three counts.
  std::array<std::uint32_t, 3> extents(std::string_view field) const {
    const JsonView value = array(field);
    std::array<std::uint32_t, 3> extents{};
    if (value.size() != extents.size()) throw wrong_type(field, "an array of three integers");
    std::size_t i = 0;
    for (const JsonView item : value) {
      const auto number = item.natural();
      if (!number || !std::in_range<std::uint32_t>(*number))
        throw wrong_type(field, "an array of three integers");
      extents[i++] = static_cast<std::uint32_t>(*number);
    }
    return extents;
  }

  JsonView object(std::string_view field) const {
    const JsonView value = at(field);
    if (!value.is_object()) throw wrong_type(field, "an object");
    return value;
  }

 private:
  JsonView at(std::string_view field) const {
    const std::optional<JsonView> found = object_.find(field);
    if (!found) throw Error(fmt::format("field \"{}\" is missing", field));
    return *found;
  }

  static double number_of(JsonView value, std::string_view field) {
    const std::optional<double> number = value.number();
    if (!number) throw wrong_type(field, "a number or null");
    return *number;
  }

  static Error wrong_type(std::string_view field, std::string_view type) {
    return Error(fmt::format("field \"{}\" is not {}", field, type));
  }

  JsonView object_;
};

/// `value` rounded to six significant digits; null if it is missing or not finite.
inline nlohmann::json number_or_null(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  return std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
}
/// null if the text is empty.
inline nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

}  // namespace kbench

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
#include <utility>

#include "kbench/error.hpp"

namespace kbench {

/// Reads the fields of one JSON object and throws kbench::Error naming the one that is missing or
/// of another type. It refers to the object, which has to outlive it.
class Fields {
 public:
  explicit Fields(const nlohmann::json& object) : object_(object) {
    if (!object.is_object()) throw Error("is not an object");
  }

  /// The field, or null where it is missing or null.
  const nlohmann::json* maybe(const char* field) const {
    const auto found = object_.find(field);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const std::string& text(const char* field) const { return text_of(at(field), field); }

  static const std::string& text_of(const nlohmann::json& value, const char* field) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) throw wrong_type(field, "a string");
    return *text;
  }

  template <typename T>
  T integer(const char* field) const {
    const nlohmann::json& value = at(field);
    if (const auto* natural = value.get_ptr<const std::uint64_t*>()) {
      if (std::in_range<T>(*natural)) return static_cast<T>(*natural);
    } else if (const auto* number = value.get_ptr<const std::int64_t*>()) {
      if (std::in_range<T>(*number)) return static_cast<T>(*number);
    }
    throw wrong_type(field, "an integer in range");
  }

  /// A number; not-a-number where the field is null.
  double number(const char* field) const {
    const nlohmann::json& value = at(field);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) throw wrong_type(field, "a number or null");
    return value.get<double>();
  }

  std::optional<double> maybe_number(const char* field) const {
    const nlohmann::json* value = maybe(field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) throw wrong_type(field, "a number or null");
    return value->get<double>();
  }

  bool boolean(const char* field) const {
    const auto* value = at(field).get_ptr<const bool*>();
    if (value == nullptr) throw wrong_type(field, "true or false");
    return *value;
  }

  const nlohmann::json& array(const char* field) const {
    const nlohmann::json& value = at(field);
    if (!value.is_array()) throw wrong_type(field, "an array");
    return value;
  }

  /// An array of three counts.
  std::array<std::uint32_t, 3> extents(const char* field) const {
    const nlohmann::json& value = array(field);
    std::array<std::uint32_t, 3> extents{};
    if (value.size() != extents.size()) throw wrong_type(field, "an array of three integers");
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto* number = value[i].get_ptr<const std::uint64_t*>();
      if (number == nullptr || !std::in_range<std::uint32_t>(*number))
        throw wrong_type(field, "an array of three integers");
      extents[i] = static_cast<std::uint32_t>(*number);
    }
    return extents;
  }

  const nlohmann::json& object(const char* field) const {
    const nlohmann::json& value = at(field);
    if (!value.is_object()) throw wrong_type(field, "an object");
    return value;
  }

 private:
  const nlohmann::json& at(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) throw Error(fmt::format("field \"{}\" is missing", field));
    return *found;
  }

  static Error wrong_type(const char* field, const char* type) {
    return Error(fmt::format("field \"{}\" is not {}", field, type));
  }

  const nlohmann::json& object_;
};

/// To six significant digits; null where there is no finite number.
inline nlohmann::json number_or_null(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  return std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
}
/// null where the text is empty.
inline nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

}  // namespace kbench

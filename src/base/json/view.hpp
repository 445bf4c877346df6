// SPDX-License-Identifier: MIT
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace kbench {

/// One value of a text that a JsonReader has parsed. It is valid until the reader parses the next
/// text.
class JsonView {
 public:
  class Iterator;

  explicit JsonView(simdjson::dom::element value, std::string_view key = {})
      : value_(value), key_(key) {}

  bool is_null() const { return value_.is_null(); }
  bool is_array() const { return value_.is_array(); }
  bool is_object() const { return value_.is_object(); }
  std::optional<bool> boolean() const { return get<bool>(); }
  std::optional<std::string_view> text() const { return get<std::string_view>(); }
  /// An integer of at least 0.
  std::optional<std::uint64_t> natural() const { return get<std::uint64_t>(); }
  /// An integer below 0.
  std::optional<std::int64_t> negative() const;
  std::optional<double> number() const { return get<double>(); }

  /// The number of children of an array or object; begin() and end() iterate over them.
  std::size_t size() const;
  Iterator begin() const;
  Iterator end() const;
  /// The first child of that name; nothing if there is none or this is not an object.
  std::optional<JsonView> find(std::string_view key) const;
  /// The name of a child, if an Iterator over an object returned it.
  std::string_view key() const { return key_; }

  nlohmann::json to_json() const;

 private:
  template <typename T>
  std::optional<T> get() const {
    T value{};
    return value_.get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
  }

  simdjson::dom::element value_;
  std::string_view key_;
};

/// Iterates over the children of an array or object.
class JsonView::Iterator {
 public:
  Iterator() = default;
  explicit Iterator(simdjson::dom::array::iterator at) : in_array_(at) {}
  explicit Iterator(simdjson::dom::object::iterator at) : in_object_(at), of_object_(true) {}

  JsonView operator*() const {
    return of_object_ ? JsonView(in_object_.value(), in_object_.key()) : JsonView(*in_array_);
  }
  Iterator& operator++();
  bool operator==(const Iterator& other) const {
    return of_object_ ? in_object_ == other.in_object_ : in_array_ == other.in_array_;
  }

 private:
  simdjson::dom::array::iterator in_array_;
  simdjson::dom::object::iterator in_object_;
  bool of_object_ = false;
};

/// Parses one text after another, and reuses its storage. For one thread at a time.
class JsonReader {
 public:
  JsonReader() = default;
  /// Holds a value that kbench built. Throws kbench::Error if it is deeper than the parser's limit
  /// of 1,024 levels.
  explicit JsonReader(const nlohmann::json& value);

  /// True if `text` is JSON; then root() is its value until the next call.
  bool parse(std::string_view text);
  JsonView root() const { return JsonView(root_); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace kbench

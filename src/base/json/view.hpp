// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// One value of a JsonTree. Its relatives are told by their distance in the tree's storage.
struct JsonNode {
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kNatural,   ///< an integer from 0 on
    kNegative,  ///< one below
    kFloat,
    kText,
    kArray,
    kObject
  };
  Kind kind = Kind::kNull;
  std::uint32_t size = 0;  ///< children, or bytes of the text
  std::int32_t first = 0;  ///< to its first child; 0: it has none
  std::int32_t next = 0;   ///< to the next child of its parent; 0: it is the last
  std::string_view key;    ///< in an object
  const char* text = nullptr;
  std::uint64_t bits = 0;  ///< of the number, which `kind` gives its type; 0 or 1 of kBoolean
};

/// A JSON value to be read, of a nlohmann::json or of a JsonTree, which has to outlive it.
class JsonView {
 public:
  class Iterator;

  JsonView(const nlohmann::json& json) : json_(&json) {}  // NOLINT: stands for the value
  explicit JsonView(const JsonNode& node) : node_(&node), key_(node.key) {}

  bool is_null() const;
  bool is_array() const;
  bool is_object() const;
  std::optional<bool> boolean() const;
  std::optional<std::string_view> text() const;
  /// An integer from 0 on.
  std::optional<std::uint64_t> natural() const;
  /// An integer below 0.
  std::optional<std::int64_t> negative() const;
  /// Any number.
  std::optional<double> number() const;

  /// Children of an array or object.
  std::size_t size() const;
  Iterator begin() const;
  Iterator end() const;
  /// The child of that name; nothing where this is no object or has none.
  std::optional<JsonView> find(std::string_view key) const;
  /// Its name in the object over which an Iterator goes.
  std::string_view key() const { return key_; }

  nlohmann::json to_json() const;

 private:
  friend class Iterator;
  friend class JsonIndex;
  bool is(JsonNode::Kind kind) const { return node_ != nullptr && node_->kind == kind; }

  const nlohmann::json* json_ = nullptr;
  const JsonNode* node_ = nullptr;
  std::string_view key_;
};

/// Goes over the children of an array or object, in no order of an object's names.
class JsonView::Iterator {
 public:
  Iterator() = default;
  Iterator(const nlohmann::json::const_iterator& at, bool of_object)
      : at_(at), of_json_(true), of_object_(of_object) {}
  explicit Iterator(const JsonNode* node) : node_(node) {}

  JsonView operator*() const;
  Iterator& operator++();
  bool operator==(const Iterator& other) const {
    return of_json_ ? at_ == other.at_ : node_ == other.node_;
  }

 private:
  nlohmann::json::const_iterator at_;
  const JsonNode* node_ = nullptr;  ///< null at the end
  bool of_json_ = false, of_object_ = false;
};

/// The children of an object by their names, for one with so many that going over them for each
/// name takes long. The object has to outlive it.
class JsonIndex {
 public:
  /// Fewer children are found sooner without it, and for more there is no room.
  static constexpr std::size_t kLeast = 16, kMost = 64;
  /// `object` is of a JsonTree, and has from kLeast to kMost children.
  explicit JsonIndex(const JsonView& object);
  static bool suits(const JsonView& object);
  /// As JsonView::find().
  std::optional<JsonView> find(std::string_view key) const;

 private:
  static constexpr std::size_t kSlots = 128;
  static std::size_t slot_of(std::string_view key);
  std::array<const JsonNode*, kSlots> slots_{};
};

}  // namespace kbench

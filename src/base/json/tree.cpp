// SPDX-License-Identifier: MIT
#include "base/json/tree.hpp"

#include <bit>
#include <utility>

#ifdef KBENCH_SIMDJSON
#include <simdjson.h>
#endif

namespace kbench {

using Kind = JsonNode::Kind;

/// What nlohmann's parser finds, in its order.
class JsonTree::Events {
 public:
  explicit Events(JsonTree& tree) : tree_(tree) {}

  bool null() {
    tree_.add(Kind::kNull);
    return true;
  }
  bool boolean(bool value) {
    tree_.add(Kind::kBoolean).bits = value ? 1 : 0;
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    tree_.add(Kind::kNatural).bits = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    tree_.add(value < 0 ? Kind::kNegative : Kind::kNatural).bits =
        std::bit_cast<std::uint64_t>(value);
    return true;
  }
  bool number_float(double value, const std::string& /*text*/) {
    tree_.add(Kind::kFloat).bits = std::bit_cast<std::uint64_t>(value);
    return true;
  }
  bool string(const std::string& value) {
    tree_.add_text(value);
    return true;
  }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool key(const std::string& value) {
    tree_.key_ = tree_.kept(value);
    return true;
  }
  bool start_object(std::size_t /*size*/) {
    tree_.open(Kind::kObject);
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    tree_.open(Kind::kArray);
    return true;
  }
  bool end_object() {
    tree_.close();
    return true;
  }
  bool end_array() { return end_object(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    return false;
  }

 private:
  JsonTree& tree_;
};

#ifdef KBENCH_SIMDJSON

/// simdjson's parser, which has storage of its own.
struct JsonTree::Simd {
  simdjson::dom::parser parser;

  /// It takes 1,024 levels at most, so this may call itself.
  static void add(JsonTree& tree, simdjson::dom::element value) {
    using Type = simdjson::dom::element_type;
    switch (value.type()) {
      case Type::NULL_VALUE:
        tree.add(Kind::kNull);
        return;
      case Type::BOOL:
        tree.add(Kind::kBoolean).bits = value.get_bool().value_unsafe() ? 1 : 0;
        return;
      case Type::UINT64:
        tree.add(Kind::kNatural).bits = value.get_uint64().value_unsafe();
        return;
      case Type::INT64: {
        const std::int64_t number = value.get_int64().value_unsafe();
        tree.add(number < 0 ? Kind::kNegative : Kind::kNatural).bits =
            std::bit_cast<std::uint64_t>(number);
        return;
      }
      case Type::DOUBLE:
        tree.add(Kind::kFloat).bits =
            std::bit_cast<std::uint64_t>(value.get_double().value_unsafe());
        return;
      case Type::STRING: {
        // Names and strings stay where the parser has put them until it is given the next text.
        const std::string_view text = value.get_string().value_unsafe();
        JsonNode& node = tree.add(Kind::kText);
        node.text = text.data();
        node.size = static_cast<std::uint32_t>(text.size());
        return;
      }
      case Type::ARRAY: {
        const simdjson::dom::array array = value.get_array().value_unsafe();
        tree.open(Kind::kArray);
        for (const simdjson::dom::element item : array) add(tree, item);
        break;
      }
      case Type::OBJECT: {
        const simdjson::dom::object object = value.get_object().value_unsafe();
        tree.open(Kind::kObject);
        for (const auto& [key, item] : object) {
          tree.key_ = key;
          add(tree, item);
        }
        break;
      }
    }
    tree.close();
  }
};

bool JsonTree::parse(std::string_view text) {
  simdjson::dom::element root;
  // What it refuses (numbers beyond its range, deep nesting, what is no JSON) nlohmann's decides.
  if (simd_->parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS)
    return parse_with_nlohmann(text);
  clear(0);
  Simd::add(*this, root);
  return true;
}

#else

struct JsonTree::Simd {};

bool JsonTree::parse(std::string_view text) { return parse_with_nlohmann(text); }

#endif

JsonTree::JsonTree() : simd_(std::make_unique<Simd>()) {}
JsonTree::~JsonTree() = default;
JsonTree::JsonTree(JsonTree&&) noexcept = default;
JsonTree& JsonTree::operator=(JsonTree&&) noexcept = default;

bool JsonTree::parse_with_nlohmann(std::string_view text) {
  // No value has less than a byte.
  if (!std::in_range<std::int32_t>(text.size())) return false;
  clear(text.size());
  Events events(*this);
  return nlohmann::json::sax_parse(text.begin(), text.end(), &events);
}

void JsonTree::clear(std::size_t bytes) {
  nodes_.clear();
  texts_.clear();
  open_.clear();
  youngest_.clear();
  // Nothing is longer unescaped, so what is kept stays where it is.
  texts_.reserve(bytes);
}

std::string_view JsonTree::kept(std::string_view text) {
  const std::size_t at = texts_.size();
  texts_ += text;
  return {texts_.data() + at, text.size()};
}

void JsonTree::add_text(std::string_view text) {
  JsonNode& node = add(Kind::kText);
  node.text = kept(text).data();
  node.size = static_cast<std::uint32_t>(text.size());
}

JsonNode& JsonTree::add(Kind kind) {
  const auto at = [this](std::int32_t index) -> JsonNode& {
    return nodes_[static_cast<std::size_t>(index)];
  };
  const auto index = static_cast<std::int32_t>(nodes_.size());
  JsonNode& node = nodes_.emplace_back();
  node.kind = kind;
  if (open_.empty()) return node;
  const std::int32_t parent_index = open_.back();
  JsonNode& parent = at(parent_index);
  ++parent.size;
  if (parent.kind == Kind::kObject) {
    // The youngest stands first, so that it is the one found where names are equal.
    node.key = key_;
    if (parent.first != 0) node.next = parent_index + parent.first - index;
    parent.first = index - parent_index;
    return node;
  }
  std::int32_t& youngest = youngest_.back();
  if (youngest < 0) {
    parent.first = index - parent_index;
  } else {
    at(youngest).next = index - youngest;
  }
  youngest = index;
  return node;
}

void JsonTree::open(Kind kind) {
  const auto index = static_cast<std::int32_t>(nodes_.size());
  add(kind);
  open_.push_back(index);
  youngest_.push_back(-1);
}

void JsonTree::close() {
  open_.pop_back();
  youngest_.pop_back();
}

}  // namespace kbench

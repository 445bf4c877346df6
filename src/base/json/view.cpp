// SPDX-License-Identifier: MIT
#include "base/json/view.hpp"

#include <bit>

namespace kbench {
namespace {

using nlohmann::json;
using Kind = JsonNode::Kind;

}  // namespace

bool JsonView::is_null() const { return json_ != nullptr ? json_->is_null() : is(Kind::kNull); }
bool JsonView::is_array() const { return json_ != nullptr ? json_->is_array() : is(Kind::kArray); }
bool JsonView::is_object() const {
  return json_ != nullptr ? json_->is_object() : is(Kind::kObject);
}

std::optional<bool> JsonView::boolean() const {
  if (json_ != nullptr)
    return json_->is_boolean() ? std::optional(json_->get<bool>()) : std::nullopt;
  return is(Kind::kBoolean) ? std::optional(node_->bits != 0) : std::nullopt;
}

std::optional<std::string_view> JsonView::text() const {
  if (json_ != nullptr) {
    const auto* text = json_->get_ptr<const std::string*>();
    return text != nullptr ? std::optional<std::string_view>(*text) : std::nullopt;
  }
  return is(Kind::kText) ? std::optional(std::string_view(node_->text, node_->size)) : std::nullopt;
}

std::optional<std::uint64_t> JsonView::natural() const {
  if (json_ != nullptr) {
    if (json_->is_number_unsigned()) return json_->get<std::uint64_t>();
    // What a program made of an int is signed there, whatever its value.
    if (!json_->is_number_integer() || json_->get<std::int64_t>() < 0) return std::nullopt;
    return json_->get<std::uint64_t>();
  }
  return is(Kind::kNatural) ? std::optional(node_->bits) : std::nullopt;
}

std::optional<std::int64_t> JsonView::negative() const {
  if (json_ != nullptr) {
    if (!json_->is_number_integer() || natural()) return std::nullopt;
    return json_->get<std::int64_t>();
  }
  return is(Kind::kNegative) ? std::optional(std::bit_cast<std::int64_t>(node_->bits))
                             : std::nullopt;
}

std::optional<double> JsonView::number() const {
  if (json_ != nullptr)
    return json_->is_number() ? std::optional(json_->get<double>()) : std::nullopt;
  if (is(Kind::kFloat)) return std::bit_cast<double>(node_->bits);
  if (is(Kind::kNatural)) return static_cast<double>(node_->bits);
  if (is(Kind::kNegative)) return static_cast<double>(std::bit_cast<std::int64_t>(node_->bits));
  return std::nullopt;
}

std::size_t JsonView::size() const { return json_ != nullptr ? json_->size() : node_->size; }

JsonView::Iterator JsonView::begin() const {
  if (json_ != nullptr) return {json_->begin(), json_->is_object()};
  return Iterator(node_->first != 0 ? node_ + node_->first : nullptr);
}

JsonView::Iterator JsonView::end() const {
  return json_ != nullptr ? Iterator(json_->end(), json_->is_object()) : Iterator();
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  if (json_ != nullptr) {
    const auto found = json_->find(key);
    return found != json_->end() ? std::optional<JsonView>(*found) : std::nullopt;
  }
  if (node_->first == 0) return std::nullopt;
  for (const JsonNode* child = node_ + node_->first;; child += child->next) {
    // Most keys differ in their length or first letter, which costs no call.
    if (child->key.size() == key.size() && (key.empty() || child->key[0] == key[0]) &&
        child->key == key)
      return JsonView(*child);
    if (child->next == 0) return std::nullopt;
  }
}

json JsonView::to_json() const {
  if (json_ != nullptr) return *json_;
  switch (node_->kind) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBoolean:
      return node_->bits != 0;
    case Kind::kNatural:
      return node_->bits;
    case Kind::kNegative:
      return std::bit_cast<std::int64_t>(node_->bits);
    case Kind::kFloat:
      return std::bit_cast<double>(node_->bits);
    case Kind::kText:
      return std::string_view(node_->text, node_->size);
    case Kind::kArray: {
      json array = json::array();
      for (const JsonView child : *this) array.push_back(child.to_json());
      return array;
    }
    case Kind::kObject:
      break;
  }
  json object = json::object();
  // The first is the youngest, and of equal names the one that counts.
  for (const JsonView child : *this) object.emplace(child.key(), child.to_json());
  return object;
}

JsonView JsonView::Iterator::operator*() const {
  if (!of_json_) return JsonView(*node_);
  JsonView view(*at_);
  if (of_object_) view.key_ = at_.key();
  return view;
}

JsonView::Iterator& JsonView::Iterator::operator++() {
  if (of_json_) {
    ++at_;
  } else {
    node_ = node_->next != 0 ? node_ + node_->next : nullptr;
  }
  return *this;
}

JsonIndex::JsonIndex(const JsonView& object) {
  // As find() goes over them: of equal names the first to be seen counts.
  for (const JsonNode* child = object.node_ + object.node_->first;; child += child->next) {
    std::size_t slot = slot_of(child->key);
    while (slots_[slot] != nullptr && slots_[slot]->key != child->key) slot = (slot + 1) % kSlots;
    if (slots_[slot] == nullptr) slots_[slot] = child;
    if (child->next == 0) return;
  }
}

bool JsonIndex::suits(const JsonView& object) {
  return object.is(Kind::kObject) && object.size() >= kLeast && object.size() <= kMost;
}

std::optional<JsonView> JsonIndex::find(std::string_view key) const {
  for (std::size_t slot = slot_of(key); slots_[slot] != nullptr; slot = (slot + 1) % kSlots)
    if (slots_[slot]->key == key) return JsonView(*slots_[slot]);
  return std::nullopt;
}

std::size_t JsonIndex::slot_of(std::string_view key) {
  if (key.empty()) return 0;
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(key[i]);
  };
  // Enough to tell the names of a record apart, all but a few.
  return (byte(0) * 5 + byte(key.size() - 1) * 11 + byte(key.size() / 2) * 3 + key.size() * 17) %
         kSlots;
}

}  // namespace kbench

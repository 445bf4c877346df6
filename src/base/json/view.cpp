// SPDX-License-Identifier: MIT
#include "base/json/view.hpp"

#include "base/json/dumped.hpp"
#include "kbench/error.hpp"

namespace kbench {

namespace dom = simdjson::dom;

std::optional<std::int64_t> JsonView::negative() const {
  const auto number = get<std::int64_t>();
  return number && *number < 0 ? number : std::nullopt;
}

std::size_t JsonView::size() const {
  if (const auto items = get<dom::array>()) return items->size();
  const auto members = get<dom::object>();
  return members ? members->size() : 0;
}

JsonView::Iterator JsonView::begin() const {
  if (const auto items = get<dom::array>()) return Iterator(items->begin());
  const auto members = get<dom::object>();
  return members ? Iterator(members->begin()) : Iterator();
}

JsonView::Iterator JsonView::end() const {
  if (const auto items = get<dom::array>()) return Iterator(items->end());
  const auto members = get<dom::object>();
  return members ? Iterator(members->end()) : Iterator();
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  dom::element child;
  if (value_[key].get(child) != simdjson::SUCCESS) return std::nullopt;
  return JsonView(child);
}

nlohmann::json JsonView::to_json() const { return nlohmann::json::parse(simdjson::minify(value_)); }

JsonView::Iterator& JsonView::Iterator::operator++() {
  if (of_object_) {
    ++in_object_;
  } else {
    ++in_array_;
  }
  return *this;
}

JsonReader::JsonReader(const nlohmann::json& value) {
  if (!parse(dumped(value))) throw Error("is nested too deeply");
}

bool JsonReader::parse(std::string_view text) {
  return parser_.parse(text.data(), text.size()).get(root_) == simdjson::SUCCESS;
}

}  // namespace kbench

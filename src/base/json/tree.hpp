// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/view.hpp"

namespace kbench {

/// Parsed JSON whose storage is used again for the next text: of the time that
/// nlohmann::json::parse() takes for a line of a run file, a third is allocation. Not to be used by
/// two threads at once.
class JsonTree {
 public:
  JsonTree();
  ~JsonTree();
  JsonTree(JsonTree&&) noexcept;
  JsonTree& operator=(JsonTree&&) noexcept;

  /// Whether `text` is JSON as nlohmann::json takes it; then root() is its value until the next
  /// call. Of equal names in an object the last counts. Where simdjson was there when kbench was
  /// built, it parses, some ten times as fast.
  bool parse(std::string_view text);
  /// The same without simdjson.
  bool parse_with_nlohmann(std::string_view text);
  JsonView root() const { return JsonView(nodes_.front()); }

 private:
  class Events;
  struct Simd;

  void clear(std::size_t bytes);
  std::string_view kept(std::string_view text);
  JsonNode& add(JsonNode::Kind kind);
  void add_text(std::string_view text);
  void open(JsonNode::Kind kind);
  void close();

  std::vector<JsonNode> nodes_;
  std::string texts_;                          ///< what names and strings are, unescaped
  std::string_view key_;                       ///< of the value that comes next
  std::vector<std::int32_t> open_, youngest_;  ///< of each open array or object its youngest child
  std::unique_ptr<Simd> simd_;
};

}  // namespace kbench

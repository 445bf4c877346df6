// SPDX-License-Identifier: MIT
#include "base/python_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

// Result files nest only a few levels. The depth is limited because writing a value recurses.
constexpr int kMaxDepth = 100;
constexpr std::string_view kReplacement = "\\ufffd";

/// The code unit of the escape \uXXXX at the front of `text`.
std::optional<unsigned> code_unit(std::string_view text) {
  if (text.size() < 6 || !text.starts_with("\\u")) return std::nullopt;
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  if (error != std::errc() || end != text.data() + 6) return std::nullopt;
  return unit;
}

bool is_high(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

/// Rewrites Python's text as JSON with the same lines.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : rest_(text) {}

  std::string rewrite() && {
    json_.reserve(rest_.size());
    while (!rest_.empty()) {
      if (in_string_) {
        string_part();
      } else {
        value_part();
      }
    }
    return std::move(json_);
  }

 private:
  void copy(std::size_t count) {
    count = std::min(count, rest_.size());
    json_ += rest_.substr(0, count);
    rest_.remove_prefix(count);
  }

  void string_part() {
    if (rest_[0] != '\\') {
      in_string_ = rest_[0] != '"';
      copy(1);
      return;
    }
    const auto unit = code_unit(rest_);
    if (!unit || (!is_high(*unit) && !is_low(*unit))) return copy(2);
    const auto next = code_unit(rest_.substr(6));
    if (is_high(*unit) && next && is_low(*next)) return copy(12);
    json_ += kReplacement;
    rest_.remove_prefix(6);
  }

  void value_part() {
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!rest_.starts_with(word)) continue;
      json_ += "null";
      rest_.remove_prefix(word.size());
      return;
    }
    const char c = rest_[0];
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
    if (depth_ > kMaxDepth) throw Error(fmt::format("nests more than {} levels deep", kMaxDepth));
    copy(1);
  }

  std::string_view rest_;
  std::string json_;
  bool in_string_ = false;
  int depth_ = 0;
};

}  // namespace

nlohmann::json parse_python_json(std::string_view text) {
  if (trimmed(text).empty()) throw Error("is empty");
  if (!is_utf8(text)) throw Error("is not UTF-8 text");
  const std::string json = Rewriter(text).rewrite();
  try {
    return nlohmann::json::parse(json);
  } catch (const nlohmann::json::parse_error& error) {
    const auto before =
        json.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, json.size()));
    const auto line = std::count(json.begin(), before, '\n') + 1;
    if (error.byte > json.size()) throw Error(fmt::format("is cut off in line {}", line));
    throw Error(fmt::format("is not JSON (line {})", line));
  }
}

}  // namespace kbench

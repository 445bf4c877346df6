// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// True if `bytes` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates).
bool is_utf8(std::string_view bytes);

/// The position of the first byte that is not valid UTF-8; nothing if all are.
std::optional<std::size_t> first_bad_utf8(std::string_view bytes);

/// `bytes` with U+FFFD in place of each byte that is not valid UTF-8.
std::string as_utf8(std::string_view bytes);

/// `text` with ASCII letters in lower case; other bytes are kept.
std::string lowercase(std::string_view text);

/// `text` without spaces, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// Removes the first line from a text and returns it without its "\n".
std::string_view next_line(std::string_view& text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// True if `c` may be part of a name in C.
constexpr bool is_word_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Removes a number from the front of `text`; false if there is none that `number` can hold.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}
/// The whole text as a number; nothing if it is none.
template <typename Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  return take_number(text, number) && text.empty() ? std::optional(number) : std::nullopt;
}

/// True if a text contains `word` as a whole word, not as part of a longer name.
bool holds_word(std::string_view text, std::string_view word);

template <class Words = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}

template <class Words = std::initializer_list<std::string_view>>
bool starts_with_any(std::string_view text, const Words& starts) {
  return std::ranges::any_of(starts, [&](const auto& start) { return text.starts_with(start); });
}

/// True if `c` may be part of a Python name. Bytes beyond ASCII count as such.
bool is_name_char(char c);

/// True if `a` is before `b`, with runs of digits compared as numbers: "2_b" before "10_a".
bool natural_less(std::string_view a, std::string_view b);

/// The edit distance in bytes: the fewest insertions, deletions, replacements and swaps of
/// neighbours that turn `a` into `b`. No byte is changed twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// A name, and the spellings that a user may use for it.
struct Spelled {
  std::string name;
  std::vector<std::string> spellings;
};

/// Up to `most` of `names` that `sought` may mean, nearest first. A name matches if the edit
/// distance to a spelling is at most a third of the length of `sought`, or if a spelling contains
/// it. Ignores case.
std::vector<std::string> nearest_names(std::string_view sought, const std::vector<Spelled>& names,
                                       std::size_t most = 3);

/// "; did you mean eval?" for the nearest of `names`; empty if none is near.
std::string did_you_mean(std::string_view sought, const std::vector<std::string>& names);

/// Reads the lines of a text one after another, without their "\n" or "\r\n".
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  /// Moves to the next line; false at the end.
  bool next(std::string_view& line);

 private:
  std::string_view rest_;
};

}  // namespace kbench

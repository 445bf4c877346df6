// SPDX-License-Identifier: MIT
#include "trial_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

namespace kbench {
namespace {

/// Where `what` stands in `text`, from `from` on. std::string_view::find() stops at each occurrence
/// of the first character, and in JSON that is a quote.
std::size_t find_text(std::string_view text, std::string_view what, std::size_t from = 0) {
  const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// The characters that the structure of JSON is made of.
constexpr std::array<bool, 256> kStructure = [] {
  std::array<bool, 256> is{};
  for (const char c : {'"', '{', '}', '[', ']'}) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

/// The end of the string that begins at `at` (its quote), one past the closing quote; npos where it
/// does not end.
std::size_t past_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;  // what is escaped
  }
  return std::string_view::npos;
}

/// One past the object or array that begins at `at`; npos where it does not end.
std::size_t past_value(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    if (!kStructure[static_cast<unsigned char>(text[at])]) continue;
    if (text[at] == '"') {
      at = past_string(text, at);
      if (at == std::string_view::npos) return at;
      --at;
    } else if (text[at] == '{' || text[at] == '[') {
      ++depth;
    } else if (--depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

/// What follows `key` (with its quotes and colon) in a trial, without spaces before it. A quote
/// within a string is escaped, so a key is never found in one.
std::string_view value_after(std::string_view trial, std::string_view key) {
  const std::size_t found = find_text(trial, key);
  if (found == std::string_view::npos) return {};
  std::string_view value = trial.substr(found + key.size());
  value.remove_prefix(std::min(value.size(), value.find_first_not_of(' ')));
  return value;
}

/// The number there; `instead` where there is none.
double number_after(std::string_view trial, std::string_view key, double instead) {
  const std::string_view value = value_after(trial, key);
  double number = instead;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

std::optional<CondensedLine> condense_trials(std::string_view line) {
  constexpr std::string_view kKey = "\"correctness\":";
  constexpr double kNone = -1;
  const std::size_t key = find_text(line, kKey);
  if (key == std::string_view::npos || !value_after(line, "\"type\":").starts_with("\"record\""))
    return std::nullopt;
  const std::size_t begin = line.find_first_not_of(' ', key + kKey.size());
  if (begin == std::string_view::npos || line[begin] != '[') return std::nullopt;

  CondensedLine condensed;
  std::string_view shown;
  bool shows_wrong = false;
  double largest = -std::numeric_limits<double>::infinity();
  std::size_t at = begin + 1;
  while (true) {
    at = line.find_first_not_of(" ,", at);
    if (at == std::string_view::npos) return std::nullopt;
    if (line[at] == ']') break;
    if (line[at] != '{') return std::nullopt;
    const std::size_t past = past_value(line, at);
    if (past == std::string_view::npos) return std::nullopt;
    const std::string_view trial = line.substr(at, past - at);
    at = past;
    const double allclose_at = number_after(trial, "\"allclose_at\":", kNone);
    condensed.any_never = condensed.any_never || allclose_at < 0;
    condensed.allclose_at = std::max(condensed.allclose_at.value_or(0), allclose_at);
    if (shows_wrong) continue;
    const double error = number_after(trial, "\"max_abs_error\":", kNone);
    shows_wrong = value_after(trial, "\"first_wrong\":").starts_with('{');
    if (!shows_wrong && error <= largest) continue;
    largest = error;
    shown = trial;
  }
  condensed.text.reserve(line.size() - (at - begin) + shown.size() + 2);
  condensed.text.append(line.substr(0, begin)).append("[").append(shown).append("]");
  condensed.text.append(line.substr(at + 1));
  return condensed;
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace kbench {
namespace {

/// The digits at the start of `text`, without leading zeros.
std::string_view leading_number(std::string_view text, std::size_t& length) {
  length = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, length);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

/// A UTF-8 sequence by its first byte `lead`: its length and the range of its second byte.
struct Sequence {
  std::size_t length;
  unsigned char second_min, second_max;
};

Sequence sequence_of(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

/// The number of ASCII bytes from `at` on, counted in words of eight.
std::size_t ascii_run(std::string_view bytes, std::size_t at) {
  const std::size_t start = at;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at - start;
}

}  // namespace

std::optional<std::size_t> first_bad_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while ((at += ascii_run(bytes, at)) < bytes.size()) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
    const Sequence sequence = sequence_of(byte(0));
    if (sequence.length == 0 || at + sequence.length > bytes.size()) return at;
    if (byte(1) < sequence.second_min || byte(1) > sequence.second_max) return at;
    for (std::size_t i = 2; i < sequence.length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return at;
    }
    at += sequence.length;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view bytes) { return !first_bad_utf8(bytes); }

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (const auto bad = first_bad_utf8(bytes)) {
    text.append(bytes.substr(0, *bad)).append("\xef\xbf\xbd");
    bytes.remove_prefix(*bad + 1);
  }
  return text.append(bytes);
}

std::string lowercase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_char(text[at - 1]);
    if (begins && (end == text.size() || !is_word_char(text[end]))) return true;
  }
  return false;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1] ? 1u : 0u)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(std::string_view sought, const std::vector<Spelled>& names,
                                       std::size_t most) {
  const std::string lower = lowercase(sought);
  const std::size_t within = std::max<std::size_t>(1, lower.size() / 3);
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const Spelled& candidate : names) {
    std::size_t best = within + 1;
    for (const std::string& spelling : candidate.spellings) {
      const std::string other = lowercase(spelling);
      std::size_t distance = edit_distance(lower, other);
      // A spelling that contains `sought` has at most the distance of the farthest match.
      if (lower.size() >= 3 && other.find(lower) != std::string::npos)
        distance = std::min(distance, within);
      best = std::min(best, distance);
    }
    if (best <= within) found.emplace_back(best, &candidate.name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : found) {
    if (nearest.size() < most) nearest.push_back(*name);
  }
  return nearest;
}

std::string did_you_mean(std::string_view sought, const std::vector<std::string>& names) {
  std::vector<Spelled> spelled;
  spelled.reserve(names.size());
  for (const std::string& name : names) spelled.push_back({name, {name}});
  const std::vector<std::string> nearest = nearest_names(sought, spelled, 1);
  return nearest.empty() ? "" : "; did you mean " + nearest.front() + "?";
}

bool Lines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    std::size_t length_a = 0, length_b = 0;
    const std::string_view number_a = leading_number(a, length_a);
    const std::string_view number_b = leading_number(b, length_b);
    if (length_a > 0 && length_b > 0) {
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      a.remove_prefix(length_a);
      b.remove_prefix(length_b);
      continue;
    }
    if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    }
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // "01" and "1" are equal as numbers but differ as texts
}

}  // namespace kbench

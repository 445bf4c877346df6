// SPDX-License-Identifier: MIT
#include "candidate/response_hidden.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kbench {
namespace {

constexpr std::string_view kComment = "<!--", kCommentEnd = "-->";
/// Lines do not contain "\n", so a part with this end continues to the end of the answer.
constexpr std::string_view kNever = "\n";

struct Mark {
  std::string_view begin, end;
};
/// The begin and end of parts that no page shows. To add one: a row; the first match is used.
constexpr std::array<Mark, 3> kMarks = {
    {{kComment, kCommentEnd}, {"<![cdata[", "]]>"}, {"<?", "?>"}}};
/// Elements whose content no page shows.
constexpr std::array<Mark, 3> kElements = {
    {{"script", "</script>"}, {"style", "</style>"}, {"template", kNever}}};
/// Elements without content, so they hide no text.
constexpr std::array<std::string_view, 14> kEmptyElements = {
    "area", "base", "br",    "col",   "embed",  "hr",    "img",
    "link", "meta", "input", "param", "source", "track", "wbr"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// True if a tag's text, in lower case, says that its element is not shown.
bool hides(std::string_view tag) {
  std::string packed;
  for (const char c : tag)
    if (c != ' ' && c != '\t') packed += c;
  if (packed.find("display:none") != std::string::npos) return true;
  constexpr std::string_view kWord = "hidden";
  for (std::size_t at = tag.find(kWord); at != std::string_view::npos;
       at = tag.find(kWord, at + 1)) {
    const std::string_view before = tag.substr(0, at), after = tag.substr(at + kWord.size());
    const bool is_quoted = std::ranges::count(before, '"') % 2 == 1;
    const bool ends = after.empty() || !(is_letter(after[0]) || after[0] == '-');
    if (!is_quoted && ends && (before.ends_with(' ') || before.ends_with('\t'))) return true;
  }
  return false;
}

/// True if the last comment that begins in `text` does not end in it.
bool leaves_comment_open(std::string_view text) {
  const std::size_t begin = text.rfind(kComment);
  return begin != std::string_view::npos &&
         text.find(kCommentEnd, begin + 2) == std::string_view::npos;
}

/// The end of the hidden part at the start of `text`, if there is one. `text`: in lower case, from
/// its "<".
std::optional<std::string_view> end_of(std::string_view text) {
  for (const Mark& mark : kMarks)
    if (text.starts_with(mark.begin)) return mark.end;
  if (text.size() > 2 && text[1] == '!' && is_letter(text[2])) return ">";  // a declaration
  const std::size_t name_end =
      std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", 1), text.size());
  const std::string_view name = text.substr(1, name_end - 1);
  const bool is_tag =
      !name.empty() && (name_end == text.size() ||
                        std::string_view(" \t/>").find(text[name_end]) != std::string_view::npos);
  if (is_tag) {
    const auto element = std::ranges::find(kElements, name, &Mark::begin);
    if (element != kElements.end()) return element->end;
    if (hides(text.substr(0, text.find('>'))) &&
        std::ranges::find(kEmptyElements, name) == kEmptyElements.end())
      return kNever;
  }
  return leaves_comment_open(text) ? std::optional(kNever) : std::nullopt;
}

}  // namespace

bool take_marker(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const std::string_view marks = end == 0 ? "-*+>" : ".)";
  if (end == text.size() || marks.find(text[end]) == std::string_view::npos) return false;
  if (end + 1 < text.size() && text[end + 1] != ' ' && text[end + 1] != '\t') return false;
  text = trimmed(text.substr(end + 1));
  return true;
}

bool HiddenParts::covers(std::string_view line) {
  std::string_view text = trimmed(line);
  if (!end_) {
    while (take_marker(text)) {
    }
    if (!text.starts_with('<')) return false;
  }
  const std::string lower = lowercase(text);
  if (!end_) {
    const auto end = end_of(lower);
    if (!end) return false;
    end_ = *end;
  }
  if (lower.find(*end_) == std::string::npos) return true;
  end_.reset();
  // "--> <!--": a page shows nothing from here on.
  if (leaves_comment_open(lower)) end_ = kNever;
  return true;
}

}  // namespace kbench

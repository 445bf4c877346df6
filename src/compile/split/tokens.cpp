// SPDX-License-Identifier: MIT
#include "compile/split/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 24> kLongPunctuators = {
    "<<=", ">>=", "...", "->*", "::", "->", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=", "^=", "&=", "|=", "##", "++", "--", ".*"};

/// A raw string has at most 16 characters between R" and its bracket.
constexpr std::size_t kMaxRawMark = 16;
constexpr std::size_t kMaxLexed = 2'000'000;

bool is_letter(char c) {
  // Bytes outside of ASCII are letters of identifiers.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

class SourceLexer {
 public:
  SourceLexer(std::string_view text, int line) : text_(text), line_(line) {}
  SourceTokens all();

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool done() const { return at_ >= text_.size(); }
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  std::string blanks();
  void line_comment(std::string& space);
  void block_comment(std::string& space);
  SourceToken token();
  std::string directive();
  std::string quoted();
  std::string raw_string();
  std::string number();
  std::string word();
  char take();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_;
  bool line_start_ = true;
};

char SourceLexer::take() {
  const char c = text_[at_++];
  if (c == '\n') ++line_;
  return c;
}

/// Appends the comment's characters as blanks; escaped line ends stay.
void SourceLexer::line_comment(std::string& space) {
  while (!done() && peek() != '\n') {
    // A backslash at the line's end continues the comment on the next line.
    if (peek() == '\\' && peek(1) == '\n') {
      space += take();
      space += take();
      continue;
    }
    take();
    space += ' ';
  }
}

void SourceLexer::block_comment(std::string& space) {
  const std::size_t end = text_.find("*/", at_ + 2);
  const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
  while (at_ < stop) {
    const char c = take();
    space += c == '\n' ? '\n' : ' ';
  }
}

std::string SourceLexer::blanks() {
  std::string space;
  while (!done()) {
    if (peek() == '\n') {
      line_start_ = true;
      space += take();
    } else if (is_blank(peek()) || (peek() == '\\' && peek(1) == '\n')) {
      space += take();
    } else if (starts("//")) {
      line_comment(space);
    } else if (starts("/*")) {
      block_comment(space);
    } else {
      break;
    }
  }
  return space;
}

/// The directive up to the end of its line, with comments as blanks. Line ends in it follow a
/// backslash.
std::string SourceLexer::directive() {
  std::string text;
  while (!done() && peek() != '\n') {
    if (peek() == '\\' && peek(1) == '\n') {
      text += take();
      text += take();
    } else if (starts("//")) {
      line_comment(text);
    } else if (starts("/*")) {
      std::string space;
      block_comment(space);
      for (const char c : space) text += c == '\n' ? std::string("\\\n") : std::string(1, c);
    } else if (peek() == '"' || peek() == '\'') {
      text += quoted();
    } else {
      text += take();
    }
  }
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  return text;
}

std::string SourceLexer::quoted() {
  std::string text(1, take());
  const char quote = text.front();
  while (!done() && peek() != '\n') {
    const char c = take();
    text += c;
    if (c == '\\' && !done()) {
      text += take();
    } else if (c == quote) {
      break;
    }
  }
  return text;
}

std::string SourceLexer::raw_string() {
  const std::size_t quote = at_;
  const std::size_t mark = text_.substr(quote + 1, kMaxRawMark + 1).find('(');
  if (mark == std::string_view::npos) return quoted();
  const std::size_t open = quote + 1 + mark;
  const std::string close = fmt::format("){}\"", text_.substr(quote + 1, open - quote - 1));
  const std::size_t end = text_.find(close, open);
  const std::size_t stop = end == std::string_view::npos ? text_.size() : end + close.size();
  std::string text;
  while (at_ < stop) text += take();
  return text;
}

std::string SourceLexer::number() {
  std::string text;
  while (!done()) {
    const char c = peek();
    const bool exponent = !text.empty() && (c == '+' || c == '-') &&
                          std::string_view("eEpP").find(text.back()) != std::string_view::npos &&
                          (!text.starts_with("0x") || text.back() == 'p' || text.back() == 'P');
    const bool separator = c == '\'' && (is_digit(peek(1)) || is_letter(peek(1)));
    if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent && !separator) break;
    text += take();
  }
  return text;
}

std::string SourceLexer::word() {
  std::string text;
  while (!done() && (is_letter(peek()) || is_digit(peek()))) text += take();
  return text;
}

bool is_string_prefix(std::string_view word) {
  return word == "L" || word == "u" || word == "U" || word == "u8";
}
bool is_raw_prefix(std::string_view word) {
  return word == "R" || (word.ends_with('R') && is_string_prefix(word.substr(0, word.size() - 1)));
}

SourceToken SourceLexer::token() {
  SourceToken token;
  token.space = blanks();
  token.line = line_;
  const bool starts_line = std::exchange(line_start_, false);
  if (done()) return token;
  const char c = peek();
  if (c == '#' && starts_line) {
    token.kind = SourceKind::kDirective;
    token.text = directive();
  } else if (c == '"' || c == '\'') {
    token.kind = SourceKind::kString;
    token.text = quoted();
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    token.kind = SourceKind::kNumber;
    token.text = number();
  } else if (is_letter(c)) {
    token.kind = SourceKind::kIdentifier;
    token.text = word();
    if (peek() == '"' && is_raw_prefix(token.text)) {
      token.kind = SourceKind::kString;
      token.text += raw_string();
    } else if ((peek() == '"' || peek() == '\'') && is_string_prefix(token.text)) {
      token.kind = SourceKind::kString;
      token.text += quoted();
    }
  } else {
    token.kind = SourceKind::kPunctuator;
    const auto* found =
        std::find_if(kLongPunctuators.begin(), kLongPunctuators.end(),
                     [this](std::string_view long_one) { return starts(long_one); });
    token.text = found == kLongPunctuators.end() ? std::string(1, take()) : std::string(*found);
    if (found != kLongPunctuators.end()) at_ += found->size();
  }
  return token;
}

SourceTokens SourceLexer::all() {
  SourceTokens tokens;
  do {
    tokens.push_back(token());
    if (tokens.size() > kMaxLexed) {
      throw SplitRefusal{"too_large", "the source is too long", tokens.back().line};
    }
  } while (tokens.back().kind != SourceKind::kEnd);
  return tokens;
}

bool is_if_zero(const SourceToken& directive) {
  if (directive_name(directive) != "if") return false;
  const SourceTokens words = directive_tokens(directive);
  return words.size() == 3 && (words[1].is("0") || words[1].is("false"));
}

/// Updates the depth of conditionals in an #if 0; 0: it has ended.
void follow_dead(const SourceToken& token, int& depth) {
  const std::string_view name = directive_name(token);
  if (name.starts_with("if")) ++depth;
  const bool ends = name == "endif" || (depth == 1 && name.starts_with("el"));
  if (ends) --depth;
}

/// Removes the code in an #if 0, which need not be C++; line ends stay.
SourceTokens without_dead_code(SourceTokens tokens) {
  SourceTokens made;
  std::string line_ends;
  int depth = 0;
  for (SourceToken& token : tokens) {
    const bool is_dead = depth > 0;
    if (is_dead && token.is_directive()) follow_dead(token, depth);
    if (!is_dead && token.is_directive() && is_if_zero(token)) depth = 1;
    if ((is_dead && depth > 0) && token.kind != SourceKind::kEnd) {
      for (const char c : token.space + token.text) line_ends += c == '\n' ? "\n" : "";
      continue;
    }
    token.space.insert(0, line_ends);
    line_ends.clear();
    made.push_back(std::move(token));
  }
  return made;
}

}  // namespace

SourceTokens source_tokens(std::string_view source, int first_line) {
  return without_dead_code(SourceLexer(source, first_line).all());
}

SourceTokens directive_tokens(const SourceToken& directive) {
  return source_tokens(std::string_view(directive.text).substr(1), directive.line);
}

std::string_view directive_name(const SourceToken& directive) {
  std::string_view text = directive.text;
  text.remove_prefix(1);
  while (!text.empty() && !is_letter(text.front())) text.remove_prefix(1);
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

bool is_conditional(const SourceToken& directive) {
  const std::string_view name = directive_name(directive);
  return name.starts_with("if") || name.starts_with("el") || name == "endif";
}

}  // namespace kbench

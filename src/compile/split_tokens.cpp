// SPDX-License-Identifier: MIT
#include "compile/split_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kbench {
namespace {

constexpr std::array<std::string_view, 24> kLongPunctuators = {
    "<<=", ">>=", "...", "->*", "::", "->", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=", "^=", "&=", "|=", "##", "++", "--", ".*"};

bool is_letter(char c) {
  // Bytes of other alphabets are letters of identifiers.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
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

/// A comment's characters as blanks; a line end stays, escaped where `escape` asks for it.
void SourceLexer::line_comment(std::string& space) {
  while (!done() && peek() != '\n') {
    // A backslash at the line's end takes the comment on to the next line.
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

/// The directive up to its line's end, comments blanked; line ends in it have a backslash before
/// them.
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
  const std::size_t open = text_.find('(', at_);
  const std::size_t quote = text_.find('"', at_);
  if (open == std::string_view::npos || open - quote > 17) return quoted();
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
  } while (tokens.back().kind != SourceKind::kEnd);
  return tokens;
}

[[noreturn]] void refuse_bracket(const SourceToken& token) {
  throw SplitRefusal{"syntax_error", fmt::format("the '{}' has no counterpart", token.text),
                     token.line};
}

char counterpart(char close) { return close == ')' ? '(' : close == ']' ? '[' : '{'; }

/// What is open before an #if, and after its first branch.
struct Branches {
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  bool has_after = false;
};

/// Follows an #if and its branches; true where a branch's brackets do not count.
void follow(const SourceToken& directive, std::vector<std::size_t>& open,
            std::vector<Branches>& conditions) {
  const std::string_view name = directive_name(directive);
  if (name.starts_with("if")) {
    conditions.push_back({open, {}, false});
  } else if (name.starts_with("el") && !conditions.empty()) {
    Branches& branches = conditions.back();
    if (!branches.has_after) branches.after = open;
    branches.has_after = true;
    open = branches.before;
  } else if (name == "endif" && !conditions.empty()) {
    if (conditions.back().has_after) open = conditions.back().after;
    conditions.pop_back();
  }
}

}  // namespace

SourceTokens source_tokens(std::string_view source, int first_line) {
  return SourceLexer(source, first_line).all();
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

std::vector<std::size_t> bracket_partners(const SourceTokens& tokens) {
  std::vector<std::size_t> partners(tokens.size(), kNoToken);
  std::vector<std::size_t> open;
  std::vector<Branches> conditions;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.is_directive()) follow(token, open, conditions);
    if (token.kind != SourceKind::kPunctuator || token.text.size() != 1) continue;
    const char c = token.text.front();
    if (c == '(' || c == '[' || c == '{') open.push_back(i);
    if (c != ')' && c != ']' && c != '}') continue;
    if (open.empty() || tokens[open.back()].text.front() != counterpart(c)) refuse_bracket(token);
    partners[i] = open.back();
    partners[open.back()] = i;
    open.pop_back();
  }
  if (!open.empty()) refuse_bracket(tokens[open.back()]);
  return partners;
}

SourceText::SourceText(SourceTokens source_tokens_of)
    : tokens(std::move(source_tokens_of)), partners(bracket_partners(tokens)) {}

std::size_t SourceText::after_group(std::size_t open) const {
  if (partners[open] == kNoToken || partners[open] < open) {
    throw SplitRefusal{"conditional_brackets",
                       "the branches of an #if leave different brackets open", tokens[open].line};
  }
  return partners[open] + 1;
}

std::size_t SourceText::closing_angle(std::size_t open, std::size_t end) const {
  int depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    const SourceToken& token = tokens[i];
    if (token.kind != SourceKind::kPunctuator) continue;
    if (token.is("(") || token.is("[") || token.is("{")) i = after_group(i) - 1;
    if (token.is(";") || token.is(")") || token.is("]") || token.is("}")) return kNoToken;
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) return i;
  }
  return kNoToken;
}

std::size_t SourceText::opening_angle(std::size_t close, std::size_t begin) const {
  int depth = 0;
  for (std::size_t i = close + 1; i > begin; --i) {
    const std::size_t at = i - 1;
    const SourceToken& token = tokens[at];
    if (token.kind != SourceKind::kPunctuator) continue;
    if (token.is(")") || token.is("]") || token.is("}")) {
      if (partners[at] == kNoToken || partners[at] < begin) return kNoToken;
      i = partners[at] + 1;
      continue;
    }
    if (token.is(";") || token.is("(") || token.is("[") || token.is("{")) return kNoToken;
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return at;
  }
  return kNoToken;
}

bool SourceText::is_triple(std::size_t at, std::string_view what) const {
  return is(at, what) && is(at + 1, what) && is(at + 2, what);
}

}  // namespace kbench

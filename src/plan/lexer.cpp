// SPDX-License-Identifier: MIT
#include "plan/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "candidate/file.hpp"

namespace kbench::plan {
namespace {

constexpr std::size_t kMaxTokens = 100'000;
constexpr std::string_view kMark = "//@";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::array<std::string_view, 8> kPairs{"<=", ">=", "==", "!=", "&&", "||", "..", "::"};
constexpr std::string_view kSingles = "()[]{}<>,:;?=+-*/%!&";
constexpr std::array<std::string_view, 3> kWordStatements{"problem", "flags", "limit"};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/// Splits one `//@` line into tokens. The count of open brackets carries over from line to line.
class LineLexer {
 public:
  LineLexer(std::string_view text, Position start, int& open_brackets, std::vector<Token>& tokens)
      : text_(text), at_(start), open_brackets_(open_brackets), tokens_(tokens) {}

  void run() {
    for (bool first = true;; first = false) {
      const std::size_t before = index_;
      skip_blanks();
      if (index_ == text_.size() || text_[index_] == '#') break;
      glued_ = !first && index_ == before;
      lex_token();
      if (first && open_brackets_ == 0 && starts_words()) lex_words();
    }
    push(Token::Kind::kNewline, 0);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return index_ + ahead < text_.size() ? text_[index_ + ahead] : '\0';
  }

  void advance(std::size_t bytes) {
    for (; bytes > 0; --bytes, ++index_) {
      // A byte that continues a UTF-8 character does not count as a column.
      if ((static_cast<unsigned char>(text_[index_]) & 0xC0) != 0x80) ++at_.column;
    }
  }

  void skip_blanks() {
    while (index_ < text_.size() && kBlanks.find(text_[index_]) != std::string_view::npos) {
      advance(1);
    }
  }

  Token& push(Token::Kind kind, std::size_t bytes) {
    if (tokens_.size() >= kMaxTokens) {
      fail(at_, fmt::format("the plan has more than {} words and signs; make it shorter with "
                            "`for` and `let`",
                            kMaxTokens));
    }
    Token token;
    token.kind = kind;
    token.text = text_.substr(index_, bytes);
    token.at = at_;
    token.glued = glued_;
    tokens_.push_back(token);
    advance(bytes);
    return tokens_.back();
  }

  void lex_token() {
    const char c = peek();
    if (is_name_start(c)) {
      lex_name();
    } else if (is_digit(c)) {
      lex_number();
    } else if (c == '`' || c == '"') {
      lex_quoted(c);
    } else {
      lex_punct();
    }
  }

  void lex_name() {
    std::size_t length = 1;
    while (is_name_part(peek(length)) || (peek(length) == '.' && is_name_part(peek(length + 1)))) {
      ++length;
    }
    push(Token::Kind::kName, length);
  }

  void lex_number() {
    std::size_t length = 0;
    const auto skip_digits = [&] {
      while (is_digit(peek(length))) ++length;
    };
    skip_digits();
    bool is_float = false;
    if (peek(length) == '.' && is_digit(peek(length + 1))) {
      is_float = true;
      ++length;
      skip_digits();
    }
    const bool sign = peek(length + 1) == '-' || peek(length + 1) == '+';
    if ((peek(length) | 0x20) == 'e' && is_digit(peek(length + (sign ? 2 : 1)))) {
      is_float = true;
      length += sign ? 2 : 1;
      skip_digits();
    }
    check_end_of_number(length);
    Token& token = push(is_float ? Token::Kind::kFloat : Token::Kind::kInteger, length);
    convert_number(token);
  }

  void check_end_of_number(std::size_t length) {
    if (is_name_part(peek(length))) {
      fail(at_, fmt::format("`{}` is not a number: write integers as 42 and floats as 0.5 or 1e-5, "
                            "without a suffix",
                            text_.substr(index_, length + 1)));
    }
    if (peek(length) == '.' && peek(length + 1) != '.') {
      fail(at_, fmt::format("a float has digits on both sides of the point: write {}.0",
                            text_.substr(index_, length)));
    }
  }

  static void convert_number(Token& token) {
    const char* end = token.text.data() + token.text.size();
    const auto result = token.kind == Token::Kind::kFloat
                            ? std::from_chars(token.text.data(), end, token.number)
                            : std::from_chars(token.text.data(), end, token.integer);
    if (result.ec != std::errc() || result.ptr != end) {
      fail(token.at, fmt::format("the number is out of range: {} take 64 bits",
                                 token.kind == Token::Kind::kFloat ? "floats" : "integers"));
    }
  }

  void lex_quoted(char quote) {
    const std::size_t end = text_.find(quote, index_ + 1);
    if (end == std::string_view::npos) {
      fail(at_, fmt::format("the closing {} is missing on this line", quote));
    }
    if (end == index_ + 1 && quote == '`') fail(at_, "there is no name between the backticks");
    Token& token = push(quote == '`' ? Token::Kind::kName : Token::Kind::kString, end + 1 - index_);
    token.text = token.text.substr(1, token.text.size() - 2);
    token.quoted = quote == '`';
  }

  void lex_punct() {
    const std::string_view rest = text_.substr(index_);
    const auto* pair = std::ranges::find_if(kPairs, [&](auto p) { return rest.starts_with(p); });
    if (pair != kPairs.end()) {
      push(Token::Kind::kPunct, pair->size());
      return;
    }
    const char c = rest.front();
    if (c == '.' && is_digit(peek(1))) {
      fail(at_, "a float has digits on both sides of the point: write 0.5");
    }
    if (kSingles.find(c) == std::string_view::npos) {
      const bool printable = c > ' ' && c < '\x7f';
      fail(at_, printable ? fmt::format("`{}` has no meaning in a plan; remove it", c)
                          : fmt::format("the byte 0x{:02x} has no meaning in a plan; names outside "
                                        "ASCII stand in backticks",
                                        static_cast<unsigned char>(c)));
    }
    if (c == '(' || c == '[') ++open_brackets_;
    if ((c == ')' || c == ']') && open_brackets_ > 0) --open_brackets_;
    push(Token::Kind::kPunct, 1);
  }

  /// True if the line begins with the word problem, flags or limit. In `limit<<<…`, limit is a
  /// kernel's name.
  bool starts_words() const {
    const Token& token = tokens_.back();
    if (token.kind != Token::Kind::kName || token.quoted) return false;
    if (std::ranges::find(kWordStatements, token.text) == kWordStatements.end()) return false;
    const std::size_t next = text_.find_first_not_of(kBlanks, index_);
    return next == std::string_view::npos || (text_[next] != '<' && text_[next] != '(');
  }

  void lex_words() {
    for (skip_blanks(); index_ < text_.size() && text_[index_] != '#'; skip_blanks()) {
      push(Token::Kind::kWord,
           std::min(text_.find_first_of(kBlanks, index_), text_.size()) - index_);
    }
  }

  std::string_view text_;
  std::size_t index_ = 0;
  Position at_;
  bool glued_ = false;
  int& open_brackets_;
  std::vector<Token>& tokens_;
};

}  // namespace

void fail(Position at, std::string message, std::string_view cause) {
  throw PlanFault{{std::move(message), at.line, at.column, std::string(cause)}};
}

std::vector<Token> lex_plan(std::string_view source) {
  std::vector<Token> tokens;
  int open_brackets = 0;
  Position end;
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  for (int line = 1; !source.empty(); ++line) {
    const std::size_t length = std::min(source.find('\n'), source.size());
    const std::string_view text = source.substr(0, length);
    source.remove_prefix(std::min(length + 1, source.size()));
    const std::size_t mark = text.find_first_not_of(kBlanks);
    if (has_spaced_mark(text)) {
      fail({line, static_cast<int>(mark) + 1},
           "a plan's line begins with `//@`: remove the space between `//` and `@`");
    }
    if (mark == std::string_view::npos || !text.substr(mark).starts_with(kMark)) continue;
    const std::size_t start = mark + kMark.size();
    LineLexer(text.substr(start), {line, static_cast<int>(start) + 1}, open_brackets, tokens).run();
    end = tokens.back().at;
  }
  if (tokens.empty()) {
    fail({}, "the candidate has no plan: say in `//@` lines what is allocated and launched",
         "no_plan");
  }
  Token last;
  last.at = end;
  tokens.push_back(last);
  return tokens;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end of the plan";
    case Token::Kind::kNewline:
      return "the end of the line";
    case Token::Kind::kString:
      return fmt::format("\"{}\"", token.text);
    default:
      return fmt::format("`{}`", token.text.substr(0, 60));
  }
}

}  // namespace kbench::plan

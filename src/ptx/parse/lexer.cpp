// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "kbench/error.hpp"
#include "ptx/parse/syntax.hpp"

namespace kbench::ptx {
namespace {

constexpr std::size_t kMaxText = std::size_t{64} << 20;  // bytes; compilers' output is far smaller

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Characters allowed in a name after the first.
bool name_part(char c) { return is_alnum(c) || c == '_' || c == '$'; }
bool name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

constexpr std::array<std::string_view, 8> kPairs{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    if (text_.size() > kMaxText) {
      throw Error(fmt::format("the PTX has {} bytes; the limit is {}", text_.size(), kMaxText));
    }
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 5);
    while (skip_blank(), at_ < text_.size()) tokens.push_back(next());
    tokens.push_back({TokenKind::kEnd, {}, line_});
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  [[noreturn]] static void fail(int line, const std::string& what) {
    throw Error(fmt::format("not PTX: line {}: {}", line, what));
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (peek() == '\n') ++line_;
      if (is_space(peek()) || (peek() == '\0' && at_ + 1 == text_.size())) {
        ++at_;
      } else if (peek() == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
        ++at_;  // a continuation line
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        comment();
      } else {
        return;
      }
    }
  }

  void comment() {
    const int begin = line_;
    for (at_ += 2; !(peek() == '*' && peek(1) == '/'); ++at_) {
      if (at_ >= text_.size()) fail(begin, "the comment is not closed");
      if (peek() == '\n') ++line_;
    }
    at_ += 2;
  }

  Token next() {
    const std::size_t begin = at_;
    const int line = line_;
    TokenKind kind = TokenKind::kSymbol;
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      kind = TokenKind::kNumber;
      number();
    } else if (c == '.' && name_start(peek(1))) {
      kind = TokenKind::kWord;  // a directive or attribute; ".reg.b32" is two tokens
      ++at_;
      name();
    } else if (name_start(c) || (c == '%' && name_part(peek(1)))) {
      kind = TokenKind::kWord;
      ++at_;
      name();
      while (peek() == '.' && name_part(peek(1))) {
        ++at_;
        name();
      }
    } else if (c == '"') {
      kind = TokenKind::kString;
      string();
    } else {
      symbol();
    }
    return {kind, text_.substr(begin, at_ - begin), line};
  }

  void name() {
    while (name_part(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
  }

  void number() {
    const bool prefixed = peek() == '0' && is_alnum(peek(1)) && !is_digit(peek(1));
    while (is_alnum(peek()) || peek() == '.') {
      const bool exponent = !prefixed && (peek() == 'e' || peek() == 'E');
      ++at_;
      if (exponent && (peek() == '+' || peek() == '-')) ++at_;
    }
  }

  void string() {
    for (++at_; peek() != '"'; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') fail(line_, "the string is not closed");
      if (peek() == '\\' && peek(1) != '\n') ++at_;
    }
    ++at_;
  }

  void symbol() {
    for (const std::string_view pair : kPairs) {
      if (text_.substr(at_, 2) != pair) continue;
      at_ += 2;
      return;
    }
    if (peek() == '\0' ||
        std::string_view("{}()[]<>,;:=+-!|@*/%&^~?").find(peek()) == std::string_view::npos) {
      fail(line_, fmt::format("unexpected character {:#04x}", static_cast<unsigned char>(peek())));
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

[[noreturn]] void malformed(const Token& token, std::string_view how) {
  throw Error(
      fmt::format("not PTX: line {}: {} number '{}'", token.line, how, token.text.substr(0, 40)));
}

/// Hexadecimal bits of a float with exactly `digits` digits.
std::uint64_t float_bits(const Token& token, std::size_t digits) {
  std::uint64_t bits = 0;
  const char* begin = token.text.data() + 2;
  const char* end = token.text.data() + token.text.size();
  const auto parsed = std::from_chars(begin, end, bits, 16);
  if (token.text.size() != digits + 2 || parsed.ec != std::errc{} || parsed.ptr != end) {
    malformed(token, "malformed");
  }
  return bits;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

Operand parse_number(const Token& token) {
  if (token.kind != TokenKind::kNumber) {
    throw Error(fmt::format("not PTX: line {}: expected a number at '{}'", token.line,
                            token.text.substr(0, 40)));
  }
  std::string_view text = token.text;
  Operand operand;
  operand.kind = Operand::Kind::kInteger;
  const char second =
      text.size() > 1 ? static_cast<char>(std::tolower(static_cast<unsigned char>(text[1]))) : ' ';
  if (text[0] == '0' && (second == 'f' || second == 'd')) {
    operand.kind = second == 'f' ? Operand::Kind::kFloat32 : Operand::Kind::kFloat64;
    operand.bits = float_bits(token, second == 'f' ? 8 : 16);
    return operand;
  }
  const bool prefixed = text[0] == '0' && (second == 'x' || second == 'b');
  if (!prefixed && text.find_first_of(".eE") != std::string_view::npos) {
    char* end = nullptr;
    const std::string copy(text.substr(0, 400));
    operand.kind = Operand::Kind::kFloat64;
    operand.bits = std::bit_cast<std::uint64_t>(std::strtod(copy.c_str(), &end));
    if (end != copy.c_str() + text.size()) malformed(token, "malformed");
    return operand;
  }
  const int base = !prefixed       ? (text[0] == '0' && is_digit(second) ? 8 : 10)
                   : second == 'x' ? 16
                                   : 2;
  if (prefixed) text.remove_prefix(2);
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) {
    operand.is_unsigned = true;
    text.remove_suffix(1);
  }
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), operand.bits, base);
  if (parsed.ec == std::errc::result_out_of_range) malformed(token, "out-of-range");
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    malformed(token, "malformed");
  }
  if ((operand.bits >> 63) != 0) operand.is_unsigned = true;
  return operand;
}

}  // namespace kbench::ptx

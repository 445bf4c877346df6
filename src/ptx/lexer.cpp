// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "kbench/error.hpp"
#include "ptx/syntax.hpp"

namespace kbench::ptx {
namespace {

bool word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

bool word_part(char c) { return word_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
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

  void skip_blank() {
    while (at_ < text_.size()) {
      if (peek() == '\n') ++line_;
      if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\0') {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        for (at_ += 2; at_ < text_.size() && !(peek() == '*' && peek(1) == '/'); ++at_) {
          if (peek() == '\n') ++line_;
        }
        at_ = std::min(at_ + 2, text_.size());
      } else {
        return;
      }
    }
  }

  Token next() {
    const std::size_t begin = at_;
    TokenKind kind = TokenKind::kSymbol;
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      kind = TokenKind::kNumber;
      while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '.') ++at_;
    } else if (word_start(c)) {
      kind = TokenKind::kWord;
      while (word_part(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
    } else if (c == '"') {
      kind = TokenKind::kString;
      for (++at_; at_ < text_.size() && peek() != '"'; ++at_) {
        if (peek() == '\\') ++at_;
      }
      at_ = std::min(at_ + 1, text_.size());
    } else if (std::string_view("{}()[]<>,;:=+-!|@*").find(c) != std::string_view::npos) {
      ++at_;
    } else {
      throw Error(fmt::format("not PTX: line {} has the character {:#04x}", line_,
                              static_cast<unsigned char>(c)));
    }
    return {kind, text_.substr(begin, at_ - begin), line_};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

Operand parse_number(const Token& token) {
  std::string text(token.text);
  Operand operand;
  operand.kind = Operand::Kind::kInteger;
  int base = 10;
  std::size_t prefix = 0;
  if (text.size() > 1 && text[0] == '0') {
    const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text[1])));
    if (c == 'f' || c == 'd') {
      operand.kind = c == 'f' ? Operand::Kind::kFloat32 : Operand::Kind::kFloat64;
      if (text.size() != (c == 'f' ? 10U : 18U)) text = "?";
    }
    base = c == 'b' ? 2 : (c == 'x' || c == 'f' || c == 'd') ? 16 : 8;
    prefix = base == 8 ? 1 : 2;
  }
  if (operand.kind == Operand::Kind::kInteger && (text.back() == 'U' || text.back() == 'u')) {
    text.pop_back();
  }
  char* end = nullptr;
  const char* begin = text.c_str() + std::min(prefix, text.size());
  operand.bits = std::strtoull(begin, &end, base);
  if (end == begin || *end != '\0') {
    throw Error(
        fmt::format("not PTX: line {} has the malformed number '{}'", token.line, token.text));
  }
  return operand;
}

}  // namespace kbench::ptx

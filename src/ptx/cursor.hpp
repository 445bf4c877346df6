// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "kbench/error.hpp"
#include "ptx/syntax.hpp"

/// What the parser reads with.
namespace kbench::ptx {

/// Tokens in order, the place in the source that .loc names, and the names of inner blocks.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(tokenize(text)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (peek().text != text || peek().kind == TokenKind::kString) return false;
    take();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("not PTX: line {}: {} at '{}'", peek().line, what, peek().text));
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("expected '{}'", text));
  }
  std::string word() {
    if (peek().kind != TokenKind::kWord) fail("expected a name");
    return std::string(take().text);
  }
  std::int64_t integer() {
    const bool negative = accept("-");
    if (peek().kind != TokenKind::kNumber) fail("expected a number");
    const auto value = static_cast<std::int64_t>(parse_number(take()).bits);
    return negative ? -value : value;
  }
  void take_within(std::string_view what) {
    if (peek().kind == TokenKind::kEnd) fail(fmt::format("expected {}", what));
    take();
  }

  /// The source position of a statement that begins here.
  Position position() const { return {peek().line, location_.file, location_.line}; }
  /// A function begins: its first .loc tells which file it is in.
  void forget_location() {
    home_file_ = 0;
    location_ = {};
  }

  // The location of inlined code is that of the innermost caller that is in the function's own
  // file: a reader looks for the line in the kernel, not in a header of CUDA.
  void loc() {
    take();
    const auto number = [this] { return static_cast<int>(integer()); };
    const int file = number(), line = number(), column = number();
    Location here{file, line, column};
    if (accept(",")) {
      word();
      word();
      if (accept("+")) integer();
      expect(",");
      if (word() != "inlined_at") fail("expected inlined_at");
      const int outer_file = number(), outer_line = number(), outer_column = number();
      inlined_[here] = {outer_file, outer_line, outer_column};
    } else {
      inlined_.erase(here);
      if (home_file_ == 0) home_file_ = file;
    }
    for (int depth = 0; depth < 100 && std::get<0>(here) != home_file_; ++depth) {
      const auto outer = inlined_.find(here);
      if (outer == inlined_.end()) break;
      here = outer->second;
    }
    if (std::get<1>(here) != 0) location_ = {0, std::get<0>(here), std::get<1>(here)};
  }

  // Names of an inner block hide those outside, and may come again in the next block. Labels are
  // used before they stand, so they are looked for ahead.
  void open_scope() {
    scopes_.emplace_back();
    int depth = 1;
    for (std::size_t ahead = 0; depth > 0 && peek(ahead).kind != TokenKind::kEnd; ++ahead) {
      const std::string_view text = peek(ahead).text;
      depth += text == "{" ? 1 : text == "}" ? -1 : 0;
      if (depth == 1 && peek(ahead).kind == TokenKind::kWord && peek(ahead + 1).text == ":") {
        declare(std::string(text));
      }
    }
  }

  std::string declare(const std::string& name) {
    if (scopes_.empty()) return name;
    return scopes_.back()[name] = fmt::format("{}#{}", name, ++renamed_);
  }

  std::string resolve(std::string name) const {
    // A selector of a video instruction, as in "%r1.h0", is no part of the name.
    const auto dot = name.find('.', 1);
    if (dot != std::string::npos) return resolve(name.substr(0, dot)) + name.substr(dot);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    return name;
  }

  void close_scope() {
    if (!scopes_.empty()) scopes_.pop_back();
  }
  bool in_scope() const { return !scopes_.empty(); }

 private:
  using Location = std::tuple<int, int, int>;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<std::map<std::string, std::string>> scopes_;
  int renamed_ = 0;
  int home_file_ = 0;
  Position location_;
  std::map<Location, Location> inlined_;
};

}  // namespace kbench::ptx

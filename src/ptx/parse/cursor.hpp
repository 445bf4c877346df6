// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/parse/syntax.hpp"

/// Cursor over the tokens, for the parser.
namespace kbench::ptx {

/// Maximum nesting of blocks, lists and expressions; compilers stay far below.
constexpr int kMaxNesting = 64;

/// Tokens in order, the source position from .loc, and the names of inner blocks.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(tokenize(text)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  bool at_end() const { return peek().kind == TokenKind::kEnd; }
  bool at(std::string_view text) const {
    return peek().text == text && peek().kind != TokenKind::kString && !at_end();
  }
  bool at_word() const { return peek().kind == TokenKind::kWord; }
  /// True at a word that is not a directive.
  bool at_name() const { return at_word() && peek().text[0] != '.'; }
  bool at_directive() const { return at_word() && peek().text[0] == '.'; }
  const Token& take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string name();
  std::string directive();
  std::int64_t integer();
  /// Skips up to and including the next `text`.
  void skip_past(std::string_view text);
  /// Skips "( … )", which may contain further ones.
  void skip_parentheses();

  /// Throws kbench::Error with the error, the line and the token.
  [[noreturn]] void fail(const std::string& what) const;
  /// Records that the text is valid PTX that cannot be run. Parsing continues, because a syntax
  /// error has priority.
  void refuse(std::string_view what, const std::string& why);
  std::optional<Rejected> take_refused() { return std::move(refused_); }

  /// Source position for a statement that begins here.
  Position position() const;
  /// Resets the location at the begin of a function, whose first .loc determines its file.
  void forget_location();
  /// Reads ".loc …".
  void loc();

  // Names of an inner block hide outer ones and may be reused in the next block.
  void open_scope();
  void close_scope();
  /// Declares a variable or register of an inner block; returns its unique name in the function.
  std::string declare(const std::string& name);
  /// Like declare(), for registers prefix0 … prefix<count - 1>; returns their new prefix.
  std::string declare_range(const std::string& prefix, unsigned count);
  std::string resolve(const std::string& name) const;

 private:
  using Location = std::tuple<int, int, int>;
  struct Range {
    std::string prefix, renamed;
    unsigned count = 0;
  };
  struct Scope {
    std::unordered_map<std::string, std::string> names;
    std::vector<Range> ranges;
  };

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  int renamed_ = 0;
  int home_file_ = 0;
  Position location_;
  std::map<Location, Location> inlined_;
  std::optional<Rejected> refused_;
};

/// The number after `prefix`, if `name` is one of prefix0 … prefix<count - 1>; else none.
std::optional<unsigned> index_behind(std::string_view name, std::string_view prefix,
                                     unsigned count);

}  // namespace kbench::ptx

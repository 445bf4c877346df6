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

/// What the parser reads with.
namespace kbench::ptx {

/// How deeply blocks, lists and expressions may be nested: far more than any compiler does.
constexpr int kMaxNesting = 64;

/// Tokens in order, the place in the source that .loc names, and the names of inner blocks.
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
  /// A word that is no directive.
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

  /// Throws kbench::Error: what is wrong, with line and token.
  [[noreturn]] void fail(const std::string& what) const;
  /// Notes that the text is PTX that cannot be run; parsing goes on, so errors are found first.
  void refuse(std::string_view what, const std::string& why);
  std::optional<Rejected> take_refused() { return std::move(refused_); }

  /// The source position of a statement that begins here.
  Position position() const;
  /// A function begins: its first .loc tells which file it is in.
  void forget_location();
  /// Reads ".loc …".
  void loc();

  // Names of an inner block hide those outside, and may come again in the next block.
  void open_scope();
  void close_scope();
  /// The name under which an inner block's variable or register is known to the function.
  std::string declare(const std::string& name);
  /// The same for the registers prefix0 … prefix<count - 1>: their new prefix.
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

/// The number behind `prefix` in `name`, where it is one of prefix0 … prefix<count - 1>.
std::optional<unsigned> index_behind(std::string_view name, std::string_view prefix,
                                     unsigned count);

}  // namespace kbench::ptx

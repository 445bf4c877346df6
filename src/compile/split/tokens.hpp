// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "compile/split/split.hpp"

namespace kbench {

enum class SourceKind : std::uint8_t {
  kIdentifier,
  kNumber,
  kString,  ///< of any kind, and character literals
  kPunctuator,
  kDirective,  ///< a whole preprocessor line with its continuations
  kEnd,
};

/// A piece of C++ and the white space before it. Comments become blanks, so all tokens in order
/// give the source without comments, with the same columns.
struct SourceToken {
  SourceKind kind = SourceKind::kEnd;
  std::string space;
  std::string text;
  int line = 0;

  bool is(std::string_view what) const { return text == what; }
  bool is_identifier() const { return kind == SourceKind::kIdentifier; }
  bool is_directive() const { return kind == SourceKind::kDirective; }
};

using SourceTokens = std::vector<SourceToken>;

inline constexpr std::size_t kNoToken = std::numeric_limits<std::size_t>::max();

/// The tokens of a source, and one of kind kEnd after them. `<` and `>` are always single, so that
/// `>>` can close two template lists.
SourceTokens source_tokens(std::string_view source, int first_line = 1);

/// The tokens of a directive's line after its `#`; a backslash precedes each line end in them.
SourceTokens directive_tokens(const SourceToken& directive);

/// "if", "define", …; "" for a lone #.
std::string_view directive_name(const SourceToken& directive);

/// True for #if, #elif, #else, #endif and the like.
bool is_conditional(const SourceToken& directive);

/// For each bracket, the index of its partner; kNoToken for other tokens. If branches of an #if
/// leave different brackets open, only the first branch counts. Throws SplitRefusal.
std::vector<std::size_t> bracket_partners(const SourceTokens& tokens);

/// Longer template lists are not recognized, so that a single `<` or `>` does not lead to a search
/// through the whole file.
inline constexpr std::size_t kMaxTemplateTokens = 4096;

/// Tokens and their bracket pairs.
struct SourceText {
  explicit SourceText(SourceTokens source_tokens_of);
  /// The token at `at`; beyond the last one, the end token.
  const SourceToken& operator[](std::size_t at) const {
    return tokens[std::min(at, tokens.size() - 1)];
  }
  bool is(std::size_t at, std::string_view what) const {
    return at < tokens.size() && tokens[at].text == what;
  }
  /// The index after the bracket group that begins at `open`. Throws SplitRefusal if branches of an
  /// #if leave different brackets open.
  std::size_t after_group(std::size_t open) const;
  /// The `>` that closes the template list opened at `open`, before `end`; kNoToken for a
  /// comparison.
  std::size_t closing_angle(std::size_t open, std::size_t end) const;
  /// The `<` that opens the template list closed at `close`, not before `begin`; or kNoToken.
  std::size_t opening_angle(std::size_t close, std::size_t begin) const;
  /// True if the two `<` at `at` are one operator, which opens no template list.
  bool is_left_shift(std::size_t at) const;
  /// True if tokens `at`, `at + 1` and `at + 2` are all `what`: <<< or >>>, with any spaces.
  bool is_triple(std::size_t at, std::string_view what) const;

  SourceTokens tokens;
  std::vector<std::size_t> partners;
};

}  // namespace kbench

// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/split/tokens.hpp"

namespace kbench {

/// Changes a source's text. The remaining tokens keep their lines.
class Rewriter {
 public:
  explicit Rewriter(const SourceTokens& tokens)
      : tokens_(tokens), fate_(tokens.size(), Fate::kKept) {}

  /// Removes [begin, end), except line ends, #defines, #undefs and conditional directives.
  void drop(std::size_t begin, std::size_t end) { mark(begin, end, Fate::kDropped); }
  /// Removes all of [begin, end).
  void erase(std::size_t begin, std::size_t end) { mark(begin, end, Fate::kErased); }
  /// Inserts text directly before a token, after earlier insertions there.
  void insert_before(std::size_t at, const std::string& text) { before_[at] += text; }
  /// Inserts text directly after a token, before earlier insertions there.
  void insert_after(std::size_t at, const std::string& text) { after_[at].insert(0, text); }
  void replace(std::size_t at, const std::string& text) { replaced_[at] = text; }
  bool is_kept(std::size_t at) const { return fate_[at] == Fate::kKept; }

  std::string text(std::size_t begin, std::size_t end) const;
  std::string text() const { return text(0, tokens_.size()); }

 private:
  enum class Fate : std::uint8_t { kKept, kDropped, kErased };
  void mark(std::size_t begin, std::size_t end, Fate fate);
  void append(std::string& text, std::size_t at) const;

  const SourceTokens& tokens_;
  std::vector<Fate> fate_;
  std::map<std::size_t, std::string> before_, after_, replaced_;
};

}  // namespace kbench

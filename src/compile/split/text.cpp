// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compile/split/tokens.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

/// Limit of open brackets and of open #ifs. Each #if keeps a copy of the open brackets.
constexpr std::size_t kMaxOpen = 2500;

[[noreturn]] void refuse_bracket(const SourceToken& token) {
  throw SplitRefusal{"syntax_error", fmt::format("the '{}' is unmatched", token.text), token.line};
}

void check_depth(std::size_t open, const SourceToken& token) {
  if (open < kMaxOpen) return;
  throw SplitRefusal{"too_large",
                     fmt::format("more than {} '{}' are open here", kMaxOpen,
                                 token.is_directive() ? std::string("#if") : token.text),
                     token.line};
}

char counterpart(char close) { return close == ')' ? '(' : close == ']' ? '[' : '{'; }

/// The brackets that are open before an #if, and after its first branch.
struct Branches {
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  bool has_after = false;
};

/// Updates the open brackets at an #if, its branches and its end. The first branch's brackets are
/// the ones that stay.
void follow(const SourceToken& directive, std::vector<std::size_t>& open,
            std::vector<Branches>& conditions) {
  const std::string_view name = directive_name(directive);
  if (name.starts_with("if")) {
    check_depth(conditions.size(), directive);
    spend_steps(open.size(), directive.line);
    conditions.push_back({open, {}, false});
  } else if (name.starts_with("el") && !conditions.empty()) {
    Branches& branches = conditions.back();
    if (!branches.has_after) branches.after = open;
    branches.has_after = true;
    spend_steps(branches.before.size(), directive.line);
    open = branches.before;
  } else if (name == "endif" && !conditions.empty()) {
    if (conditions.back().has_after) open = conditions.back().after;
    conditions.pop_back();
  }
}

}  // namespace

std::vector<std::size_t> bracket_partners(const SourceTokens& tokens) {
  std::vector<std::size_t> partners(tokens.size(), kNoToken);
  std::vector<std::size_t> open;
  std::vector<Branches> conditions;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.is_directive()) follow(token, open, conditions);
    if (token.kind != SourceKind::kPunctuator || token.text.size() != 1) continue;
    const char c = token.text.front();
    if (c == '(' || c == '[' || c == '{') {
      check_depth(open.size(), token);
      open.push_back(i);
    }
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
  end = std::min({end, open + kMaxTemplateTokens, tokens.size()});
  for (std::size_t i = open; i < end; ++i) {
    const SourceToken& token = tokens[i];
    spend_steps(1, token.line);
    if (token.kind != SourceKind::kPunctuator) continue;
    if (token.is("(") || token.is("[") || token.is("{")) i = after_group(i) - 1;
    if (token.is(";") || token.is(")") || token.is("]") || token.is("}")) return kNoToken;
    if (is_left_shift(i)) {
      ++i;
      continue;
    }
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) return i;
  }
  return kNoToken;
}

std::size_t SourceText::opening_angle(std::size_t close, std::size_t begin) const {
  int depth = 0;
  if (close > kMaxTemplateTokens) begin = std::max(begin, close - kMaxTemplateTokens);
  for (std::size_t i = close + 1; i > begin; --i) {
    const std::size_t at = i - 1;
    const SourceToken& token = tokens[at];
    spend_steps(1, token.line);
    if (token.kind != SourceKind::kPunctuator) continue;
    if (token.is(")") || token.is("]") || token.is("}")) {
      if (partners[at] == kNoToken || partners[at] < begin) return kNoToken;
      i = partners[at] + 1;
      continue;
    }
    if (token.is(";") || token.is("(") || token.is("[") || token.is("{")) return kNoToken;
    if (at > begin && is_left_shift(at - 1)) {
      --i;
      continue;
    }
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return at;
  }
  return kNoToken;
}

bool SourceText::is_left_shift(std::size_t at) const {
  return is(at, "<") && is(at + 1, "<") && tokens[at + 1].space.empty();
}

bool SourceText::is_triple(std::size_t at, std::string_view what) const {
  return is(at, what) && is(at + 1, what) && is(at + 2, what);
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "compile/split/rewriter.hpp"

#include <algorithm>

namespace kbench {
namespace {

std::string only_line_ends(std::string_view text) {
  return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
}

bool stays(const SourceToken& directive) {
  const std::string_view name = directive_name(directive);
  return is_conditional(directive) || name == "define" || name == "undef";
}

}  // namespace

void Rewriter::mark(std::size_t begin, std::size_t end, Fate fate) {
  for (std::size_t i = begin; i < end; ++i) fate_[i] = fate;
}

void Rewriter::append(std::string& text, std::size_t at) const {
  const SourceToken& token = tokens_[at];
  const bool kept = fate_[at] == Fate::kKept ||
                    (fate_[at] == Fate::kDropped && token.is_directive() && stays(token));
  if (kept) {
    text += token.space;
  } else if (fate_[at] == Fate::kDropped) {
    text += only_line_ends(token.space);
  }
  if (const auto found = before_.find(at); found != before_.end()) text += found->second;
  const auto replaced = replaced_.find(at);
  if (kept) {
    text += replaced == replaced_.end() ? token.text : replaced->second;
  } else if (fate_[at] == Fate::kDropped) {
    text += only_line_ends(token.text);
  }
  if (const auto found = after_.find(at); found != after_.end()) text += found->second;
}

std::string Rewriter::text(std::size_t begin, std::size_t end) const {
  std::string made;
  for (std::size_t i = begin; i < end; ++i) append(made, i);
  return made;
}

}  // namespace kbench

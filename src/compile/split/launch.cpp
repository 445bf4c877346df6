// SPDX-License-Identifier: MIT
#include "compile/split/launch.hpp"

#include <fmt/format.h>

#include "compile/split/work.hpp"

namespace kbench {
namespace {

bool starts_launch(const SourceText& text, std::size_t at) {
  return text.is_triple(at, "<") && (at == 0 || !text.is(at - 1, "operator"));
}

/// One launch as token indices: kernel [kernel, open), configuration [open + 3, close), arguments
/// in the brackets at `close + 3`.
struct LaunchPlace {
  std::size_t kernel, open, close;
};

[[noreturn]] void refuse_launch(const SourceText& text, std::size_t at, std::string_view what) {
  throw SplitRefusal{"unknown_launch", fmt::format("this launch {}", what), text[at].line};
}

/// The index of the >>> that ends a configuration: the first one before a bracket of arguments.
/// Other `>>>` in it close template lists.
std::size_t configuration_end(const SourceText& text, std::size_t open, std::size_t end) {
  for (std::size_t i = open + 3; i < end;) {
    if (text.is_triple(i, ">") && text.is(i + 3, "(")) return i;
    if (text.is(i, "(") || text.is(i, "[") || text.is(i, "{")) {
      i = text.after_group(i);
    } else if (text.is(i, ")") || text.is(i, "}") || text.is(i, ";")) {
      break;
    } else {
      ++i;
    }
  }
  refuse_launch(text, open, "has a <<< without a matching >>>(…)");
}

/// The index where the expression before <<< begins: names with their template arguments, members,
/// calls, elements, an expression in brackets.
std::size_t kernel_begin(const SourceText& text, std::size_t open, std::size_t begin) {
  std::size_t at = open;
  while (at > begin) {
    spend_steps(1, text[open].line);
    const std::size_t last = at - 1;
    if (text.is(last, ">")) {
      const std::size_t angle = text.opening_angle(last, begin);
      if (angle == kNoToken || angle == begin)
        refuse_launch(text, open, "has template arguments without a <");
      at = angle;
      continue;  // the template's name is next
    }
    if (text.is(last, ")") || text.is(last, "]")) {
      at = text.partners[last];
      if (at == kNoToken || at < begin) refuse_launch(text, open, "has no kernel before its <<<");
      const bool is_suffix = at > begin &&
                             (text[at - 1].is_identifier() || text.is(at - 1, ")") ||
                              text.is(at - 1, "]") || text.is(at - 1, ">")) &&
                             !text.is(at - 1, "return") && !text.is(at - 1, "else") &&
                             !text.is(at - 1, "do");
      // A ) may also end the condition of an if; then the brackets do not belong to the kernel.
      if (is_suffix && !text.is(at - 1, "if") && !text.is(at - 1, "while")) continue;
    } else if (text[last].is_identifier()) {
      at = last;
    } else {
      break;
    }
    while (at > begin && text.is(at - 1, "template")) --at;
    const bool joined = at > begin && (text.is(at - 1, "::") || text.is(at - 1, ".") ||
                                       text.is(at - 1, "->") || text.is(at - 1, "##"));
    if (!joined) break;
    --at;
    // A name that begins with :: has nothing before it.
    const bool goes_on = at > begin && (text[at - 1].is_identifier() || text.is(at - 1, ">") ||
                                        text.is(at - 1, ")") || text.is(at - 1, "]"));
    if (!goes_on || text.is(at - 1, "return") || text.is(at - 1, "else")) break;
  }
  if (at == open) refuse_launch(text, open, "has no kernel before its <<<");
  return at;
}

LaunchPlace launch_place(const SourceText& text, std::size_t open, std::size_t begin,
                         std::size_t end) {
  return {kernel_begin(text, open, begin), open, configuration_end(text, open, end)};
}

void rewrite(const SourceText& text, const LaunchPlace& place, Rewriter& rewriter) {
  const std::size_t close = text.after_group(place.close + 3) - 1;
  rewriter.insert_before(place.kernel, fmt::format("(::kbench_split::configure({}), ",
                                                   rewriter.text(place.open + 3, place.close)));
  rewriter.drop(place.open, place.open + 3);
  rewriter.erase(place.open + 3, place.close);
  rewriter.drop(place.close, place.close + 3);
  rewriter.insert_after(close, ")");
}

/// Rewrites the launches in a #define.
void rewrite_directive(const SourceTokens& tokens, std::size_t at, Rewriter& rewriter) {
  if (directive_name(tokens[at]) != "define") return;
  if (tokens[at].text.find("<<") == std::string::npos) return;
  const SourceText body(directive_tokens(tokens[at]));
  std::size_t first = 2;
  if (body.is(first, "(") && body[first].space.empty()) first = body.after_group(first);
  // Uses of macros that begin with <<< or end with >>> are already expanded.
  const std::size_t end = body.tokens.size() - 1;
  if (!has_launch(body, first, end) || starts_launch(body, first)) return;
  if (body.is_triple(end - 3, ">")) return;
  Rewriter inner(body.tokens);
  rewrite_launches(body, first, end, inner);
  rewriter.replace(at, "#" + inner.text());
}

}  // namespace

bool has_launch(const SourceText& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i + 2 < end; ++i) {
    if (starts_launch(text, i)) return true;
  }
  return false;
}

void rewrite_launches(const SourceText& text, std::size_t begin, std::size_t end,
                      Rewriter& rewriter) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i].is_directive()) rewrite_directive(text.tokens, i, rewriter);
    if (starts_launch(text, i)) {
      const LaunchPlace place = launch_place(text, i, begin, end);
      rewrite(text, place, rewriter);
      i = place.close + 2;
    }
  }
}

}  // namespace kbench

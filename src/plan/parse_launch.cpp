// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "plan/parser.hpp"

namespace kbench::plan {
namespace {

/// Counts open brackets and angle brackets over tokens.
struct Depth {
  int brackets = 0, angles = 0;
  void add(const Token& token) {
    if (token.kind != Token::Kind::kPunct) return;
    if (token.text == "(" || token.text == "[") ++brackets;
    if (token.text == ")" || token.text == "]") --brackets;
    if (brackets > 0) return;
    if (token.text == "<") ++angles;
    if (token.text == ">") --angles;
  }
};

bool is_punct(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::kPunct && token.text == text;
}

}  // namespace

void Parser::open_triple() {
  if (!at_triple("<")) {
    fail(peek().at, fmt::format("`<<<grid, block>>>` is missing before {}", describe(peek())));
  }
  ++open_;
  index_ += 3;
}

void Parser::close_triple(Position opened) {
  const Token& token = peek();
  if (token.kind == Token::Kind::kEnd) {
    fail(opened, "this `<<<` is never closed; add the `>>>`");
  }
  if (at(",")) {
    fail(token.at,
         "a launch takes a grid, a block and bytes of shared memory, and no stream; "
         "remove what follows");
  }
  if (!at_triple(">")) {
    fail(token.at, fmt::format("`>>>` (for the `<<<` of line {}, column {}) is missing before {}",
                               opened.line, opened.column, describe(token)));
  }
  --open_;
  index_ += 3;
}

LaunchStatement Parser::launch() {
  LaunchStatement result;
  for (;;) {
    // A kernel may have the name of a modifier.
    if (at_name("cooperative") && peek_second().text != "<") {
      next();
      result.cooperative = true;
    } else if (at_name("cluster") && peek_second().text == "(") {
      next();
      result.cluster = extents();
    } else {
      break;
    }
  }
  result.kernel = kernel_name();
  if (at("<") && !at_triple("<")) {
    const Position opened = open("<", "");
    do {
      result.template_arguments.push_back(template_argument());
    } while (accept(","));
    close(">", opened);
  }
  const Position launch_at = peek().at;
  open_triple();
  result.grid = extent();
  expect(",", "between the grid and the block");
  result.block = extent();
  if (accept(",")) result.shared_bytes = expression();
  close_triple(launch_at);
  const Position opened = open("(", "before the kernel's arguments");
  result.arguments = list_until(")", opened);
  return result;
}

std::string Parser::kernel_name() {
  std::string name;
  do {
    const Token& token = next();
    const bool plain = token.kind == Token::Kind::kName && !token.quoted &&
                       token.text.find('.') == std::string_view::npos;
    if (!plain) {
      fail(token.at,
           fmt::format("{} is not a kernel's name; write it as in the C++ code", describe(token)));
    }
    name += name.empty() ? "" : "::";
    name += token.text;
  } while (accept("::"));
  return name;
}

std::size_t Parser::end_of_template_argument() const {
  Depth depth;
  for (std::size_t i = index_;; ++i) {
    const Token& token = tokens_[i];
    if (token.kind == Token::Kind::kEnd) return i;
    const bool outside = depth.brackets == 0 && depth.angles == 0;
    if (outside && (is_punct(token, ",") || is_punct(token, ">"))) return i;
    depth.add(token);
    if (depth.brackets < 0) return i;
  }
}

bool Parser::is_type(std::size_t begin, std::size_t end) const {
  const Token* before = nullptr;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = tokens_[i];
    if (token.kind == Token::Kind::kNewline) continue;
    if (is_punct(token, "(")) return false;
    if (is_punct(token, "::") || is_punct(token, "<")) return true;
    const bool two_names = before != nullptr && before->kind == Token::Kind::kName &&
                           token.kind == Token::Kind::kName && !token.quoted && !before->quoted;
    if (two_names) return true;
    before = &token;
  }
  return before != nullptr && (is_punct(*before, "*") || is_punct(*before, "&"));
}

TemplateArgument Parser::template_argument() {
  peek();
  const std::size_t end = end_of_template_argument();
  if (!is_type(index_, end)) {
    angles_compare_ = false;
    const ExprId value = expression();
    angles_compare_ = true;
    return value;
  }
  std::vector<TypePiece> pieces;
  for (; index_ < end; ++index_) {
    const Token& token = tokens_[index_];
    if (token.kind == Token::Kind::kNewline) continue;
    pieces.push_back(
        {std::string(token.text), token.kind == Token::Kind::kName && !token.quoted, token.at});
  }
  // Do not replace names in a C++ scope, nor a name that is followed by its own arguments.
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool scoped =
        (i > 0 && pieces[i - 1].text == "::") ||
        (i + 1 < pieces.size() && (pieces[i + 1].text == "::" || pieces[i + 1].text == "<"));
    if (scoped) pieces[i].is_name = false;
  }
  return pieces;
}

bool Parser::at_tuple() const {
  Depth depth;
  for (std::size_t i = index_; tokens_[i].kind != Token::Kind::kEnd; ++i) {
    depth.add(tokens_[i]);
    if (depth.brackets == 0) return false;
    if (depth.brackets == 1 && is_punct(tokens_[i], ",")) return true;
  }
  return false;
}

ExtentExprs Parser::extent() {
  const bool spelled = at_name("dim3") && peek_second().text == "(";
  if (spelled || (at("(") && at_tuple())) return extents();
  const Position start = peek().at;
  return {start, {expression()}};
}

ExtentExprs Parser::extents() {
  const Position start = peek().at;
  if (at_name("dim3")) next();
  const Position opened = open("(", "before the extents");
  ExtentExprs result{start, list_until(")", opened)};
  if (result.sizes.empty() || result.sizes.size() > 3) {
    fail(start, fmt::format("one to three extents are needed here, not {}: (x, y, z)",
                            result.sizes.size()));
  }
  return result;
}

}  // namespace kbench::plan

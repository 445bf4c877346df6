// SPDX-License-Identifier: MIT
#include "plan/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "plan/scope.hpp"

namespace kbench::plan {
namespace {

constexpr int kMaxBlocks = 32;
constexpr std::array<std::string_view, 10> kStatements{"problem", "flags", "limit", "dims", "let",
                                                       "tmp",     "out",   "inout", "if",   "for"};

std::string_view opener_of(std::string_view bracket) {
  return bracket == ")" ? "(" : bracket == "]" ? "[" : bracket == "}" ? "{" : "<";
}

double parse_limit(const Token& token) {
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [rest, error] = std::from_chars(token.text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const bool known = unit == "s" || unit == "ms";
  if (error != std::errc() || !known || !std::isfinite(value) || value <= 0) {
    fail(token.at,
         fmt::format("`{}` is not a time limit; write a positive number with its unit, as "
                     "2s or 500ms",
                     token.text.substr(0, 40)));
  }
  return unit == "ms" ? value / 1000 : value;
}

}  // namespace

const Token& Parser::peek() {
  while (open_ > 0 && tokens_[index_].kind == Token::Kind::kNewline) ++index_;
  return tokens_[index_];
}

const Token& Parser::peek_second() {
  peek();
  return tokens_[std::min(index_ + 1, tokens_.size() - 1)];
}

const Token& Parser::next() {
  const Token& token = peek();
  if (token.kind != Token::Kind::kEnd) ++index_;
  return token;
}

bool Parser::at(std::string_view punct) {
  const Token& token = peek();
  return token.kind == Token::Kind::kPunct && token.text == punct;
}

bool Parser::at_name(std::string_view word) {
  const Token& token = peek();
  return token.kind == Token::Kind::kName && !token.quoted && token.text == word;
}

bool Parser::at_triple(std::string_view angle) {
  if (!at(angle) || index_ + 2 >= tokens_.size()) return false;
  const auto glued = [&](const Token& token) {
    return token.kind == Token::Kind::kPunct && token.text == angle && token.glued;
  };
  return glued(tokens_[index_ + 1]) && glued(tokens_[index_ + 2]);
}

bool Parser::accept(std::string_view punct) {
  if (!at(punct)) return false;
  next();
  return true;
}

Position Parser::expect(std::string_view punct, std::string_view after) {
  const Token& token = peek();
  if (!at(punct)) {
    fail(token.at, fmt::format("`{}` is missing {}, before {}", punct, after, describe(token)));
  }
  return next().at;
}

Position Parser::open(std::string_view bracket, std::string_view after) {
  const Position opened = expect(bracket, after);
  ++open_;
  return opened;
}

void Parser::close(std::string_view bracket, Position opened) {
  const Token& token = peek();
  if (token.kind == Token::Kind::kEnd) {
    fail(opened,
         fmt::format("this `{}` is never closed; add the `{}`", opener_of(bracket), bracket));
  }
  if (!at(bracket)) {
    fail(token.at,
         fmt::format("`,` or `{}` (for the `{}` of line {}, column {}) is missing before "
                     "{}",
                     bracket, opener_of(bracket), opened.line, opened.column, describe(token)));
  }
  --open_;
  next();
}

std::string Parser::identifier(std::string_view of_what) {
  const Token& token = next();
  if (token.kind != Token::Kind::kName) {
    fail(token.at, fmt::format("the name {} is missing before {}", of_what, describe(token)));
  }
  if (token.quoted || token.text.find('.') != std::string_view::npos) {
    fail(token.at, fmt::format("{} is not a valid name {}; use letters, digits and _",
                               describe(token), of_what));
  }
  if (is_reserved(token.text)) {
    fail(token.at, fmt::format("{} means something already; choose another name {}",
                               describe(token), of_what));
  }
  return std::string(token.text);
}

Plan::Impl Parser::run() {
  skip_newlines();
  result_.begin = peek().at;
  result_.statements = statements(false);
  return std::move(result_);
}

void Parser::skip_newlines() {
  while (tokens_[index_].kind == Token::Kind::kNewline) ++index_;
}

Block Parser::statements(bool in_block) {
  Block block;
  for (skip_newlines(); peek().kind != Token::Kind::kEnd; skip_newlines()) {
    if (in_block && at("}")) break;
    statement(block, in_block);
  }
  return block;
}

void Parser::end_of_statement() {
  const Token& token = peek();
  if (token.kind == Token::Kind::kNewline || token.kind == Token::Kind::kEnd) return;
  if (blocks_ > 0 && at("}")) return;
  fail(token.at, fmt::format("the statement should end before {}; {}", describe(token),
                             token.text == ";" ? "remove the `;`"
                                               : "write the next one on a `//@` line of its own"));
}

void Parser::statement(Block& block, bool in_block) {
  const Token token = peek();
  if (token.kind != Token::Kind::kName || token.quoted) unknown_statement(token);
  const Token& second = peek_second();
  const bool launches = second.text == "<" || second.text == "::" || token.text == "cooperative" ||
                        (token.text == "cluster" && second.text == "(");
  const auto add_statement = [&](auto body) {
    block.push_back({token.at, std::move(body)});
    end_of_statement();
  };
  if (launches) return add_statement(launch());
  if (std::ranges::find(kStatements, token.text) == kStatements.end()) unknown_statement(token);
  next();
  if (token.text == "dims") return add_statement(dims());
  if (token.text == "let") return add_statement(let());
  if (token.text == "tmp") return add_statement(declaration(false));
  if (token.text == "out") return add_statement(declaration(true));
  if (token.text == "inout") return add_statement(inout());
  if (token.text == "if") return add_statement(if_statement());
  if (token.text == "for") return add_statement(for_statement());
  if (in_block) {
    fail(token.at,
         fmt::format("`{}` holds for the whole plan; move it out of the block", token.text));
  }
  words_statement(token.text);
  end_of_statement();
}

void Parser::unknown_statement(const Token& token) {
  if (token.kind == Token::Kind::kName && peek_second().text == "(") {
    fail(token.at, fmt::format("a launch needs its grid and block: {}<<<grid, block>>>(…)",
                               token.text.substr(0, 60)));
  }
  const std::vector<std::string_view> known(kStatements.begin(), kStatements.end());
  fail(token.at, fmt::format("no statement begins with {}{}; there are problem, dims, let, tmp, "
                             "out, inout, if, for, flags, limit and kernel<<<grid, block>>>(…)",
                             describe(token), did_you_mean(token.text, known)));
}

void Parser::words_statement(std::string_view word) {
  const Token first = next();
  if (first.kind != Token::Kind::kWord) {
    fail(first.at, fmt::format("`{}` needs a value after it on its line", word));
  }
  if (word == "flags") {
    result_.flags.push_back(checked_flag(first.text, first.at));
    while (peek().kind == Token::Kind::kWord) {
      const Token& flag = next();
      result_.flags.push_back(checked_flag(flag.text, flag.at));
    }
    return;
  }
  const bool is_problem = word == "problem";
  if (is_problem ? result_.problem.has_value() : result_.limit_s.has_value()) {
    fail(first.at, fmt::format("`{}` occurs twice in the plan; remove one", word));
  }
  if (is_problem) {
    result_.problem = std::string(first.text);
  } else {
    result_.limit_s = parse_limit(first);
  }
}

Dims Parser::dims() {
  Dims result;
  result.tensor = name();
  const Position opened = open("[", "after the tensor's name");
  result.sizes = list_until("]", opened);
  return result;
}

Let Parser::let() {
  Let result;
  result.name = identifier("of the value");
  expect("=", "after the name");
  result.value = expression();
  return result;
}

Declaration Parser::declaration(bool is_output) {
  Declaration result;
  result.is_output = is_output;
  result.name = identifier(is_output ? "of the output" : "of the scratch tensor");
  if (at_name("like")) {
    next();
    result.like = expression();
  } else {
    expect(":", "or `like` after the name");
    result.dtype = dtype();
    const Position opened = open("[", "after the dtype (a scalar's shape is [])");
    result.shape = list_until("]", opened);
  }
  if (accept("=")) result.fill = expression();
  return result;
}

Inout Parser::inout() { return {name()}; }

Block Parser::block() {
  const Token& token = peek();
  if (blocks_ >= kMaxBlocks) {
    fail(token.at, fmt::format("blocks are nested more than {} deep", kMaxBlocks));
  }
  ++blocks_;
  const Position opened = expect("{", "to begin the block");
  Block result = statements(true);
  if (!at("}")) fail(opened, "this `{` is never closed; add the `}`");
  next();
  --blocks_;
  return result;
}

If Parser::if_statement() {
  If result;
  const Position opened = open("(", "after `if`");
  result.condition = expression();
  close(")", opened);
  result.then = block();
  const std::size_t before = index_;
  skip_newlines();
  if (!at_name("else")) {
    index_ = before;
    return result;
  }
  next();
  const Token token = peek();
  if (!at_name("if")) {
    result.otherwise = block();
    return result;
  }
  if (blocks_ >= kMaxBlocks) {
    fail(token.at, fmt::format("blocks are nested more than {} deep", kMaxBlocks));
  }
  next();
  ++blocks_;
  result.otherwise.push_back({token.at, if_statement()});
  --blocks_;
  return result;
}

For Parser::for_statement() {
  For result;
  result.name = identifier("of the loop's counter");
  if (!at_name("in")) {
    fail(peek().at,
         fmt::format("`in` is missing before {}; write for i in a..b {{ … }}", describe(peek())));
  }
  next();
  result.first = expression();
  expect("..", "between the loop's bounds");
  result.last = expression();
  result.body = block();
  return result;
}

}  // namespace kbench::plan

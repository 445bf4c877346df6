// SPDX-License-Identifier: MIT
#include "ptx/parse/cursor.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench::ptx {
namespace {

/// A token as messages show it.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 40 ? out + "…" : out;
}

}  // namespace

const Token& Cursor::take() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Cursor::fail(const std::string& what) const {
  throw Error(at_end() ? fmt::format("not PTX: line {}: {} at the end", peek().line, what)
                       : fmt::format("not PTX: line {}: {} at '{}'", peek().line, what,
                                     shown(peek().text)));
}

void Cursor::refuse(std::string_view what, const std::string& why) {
  if (!refused_) refused_ = Rejected{std::string(what), why, position()};
}

void Cursor::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("expected '{}'", text));
}

std::string Cursor::name() {
  if (!at_name()) fail("expected a name");
  return std::string(take().text);
}

std::string Cursor::directive() {
  if (!at_directive()) fail("expected a directive");
  return std::string(take().text);
}

std::int64_t Cursor::integer() {
  const bool negative = accept("-");
  const std::uint64_t value = parse_number(take()).bits;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

void Cursor::skip_past(std::string_view text) {
  while (!accept(text)) {
    if (at_end()) fail(fmt::format("expected '{}'", text));
    take();
  }
}

void Cursor::skip_parentheses() {
  expect("(");
  for (int depth = 1; depth > 0; take()) {
    if (at_end()) fail("expected ')'");
    depth += at("(") ? 1 : at(")") ? -1 : 0;
  }
}

Position Cursor::position() const {
  Position position = location_;
  position.ptx_line = peek().line;
  return position;
}

void Cursor::forget_location() {
  home_file_ = 0;
  location_ = {};
  inlined_.clear();
}

// Inlined code gets the location of its innermost caller in the function's own file, because users
// expect a line of their kernel, not of a CUDA header.
void Cursor::loc() {
  take();
  const auto number = [this] { return static_cast<int>(integer()); };
  const int file = number(), line = number(), column = number();
  const Location inner{file, line, column};
  if (accept(",")) {
    if (name() != "function_name") fail("expected function_name");
    name();
    if (accept("+")) integer();
    expect(",");
    if (name() != "inlined_at") fail("expected inlined_at");
    const int outer_file = number(), outer_line = number(), outer_column = number();
    inlined_[inner] = {outer_file, outer_line, outer_column};
  } else {
    inlined_.erase(inner);
    if (home_file_ == 0) home_file_ = file;
  }
  Location here = inner;
  for (int depth = 0; depth < 100 && std::get<0>(here) != home_file_; ++depth) {
    const auto outer = inlined_.find(here);
    if (outer == inlined_.end()) break;
    here = outer->second;
  }
  if (std::get<1>(here) == 0) return;
  const bool inlined = std::get<0>(here) != file;
  location_ = {0, std::get<0>(here), std::get<1>(here), inlined ? file : 0, inlined ? line : 0};
}

// Labels may be used before their definition, so they are collected ahead.
void Cursor::open_scope() {
  if (scopes_.size() >= kMaxNesting) fail("blocks nested too deeply");
  scopes_.emplace_back();
  int depth = 1;
  for (std::size_t i = at_; depth > 0 && i + 1 < tokens_.size(); ++i) {
    const std::string_view text = tokens_[i].text;
    if (tokens_[i].kind == TokenKind::kSymbol) depth += text == "{" ? 1 : text == "}" ? -1 : 0;
    if (depth == 1 && tokens_[i].kind == TokenKind::kWord && tokens_[i + 1].text == ":") {
      declare(std::string(text));
    }
  }
}

void Cursor::close_scope() {
  if (!scopes_.empty()) scopes_.pop_back();
}

std::string Cursor::declare(const std::string& name) {
  if (scopes_.empty()) return name;
  return scopes_.back().names[name] = fmt::format("{}#{}", name, ++renamed_);
}

std::string Cursor::declare_range(const std::string& prefix, unsigned count) {
  if (scopes_.empty()) return prefix;
  scopes_.back().ranges.push_back({prefix, fmt::format("{}#{}_", prefix, ++renamed_), count});
  return scopes_.back().ranges.back().renamed;
}

std::string Cursor::resolve(const std::string& name) const {
  if (scopes_.empty()) return name;
  // A selector of a video instruction, as in "%r1.h0", is not part of the name.
  const auto dot = name.find('.', 1);
  if (dot != std::string::npos) return resolve(name.substr(0, dot)) + name.substr(dot);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) {
      return found->second;
    }
    for (const Range& range : scope->ranges) {
      const auto index = index_behind(name, range.prefix, range.count);
      if (index) return fmt::format("{}{}", range.renamed, *index);
    }
  }
  return name;
}

std::optional<unsigned> index_behind(std::string_view name, std::string_view prefix,
                                     unsigned count) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits[0] == '0' && digits.size() > 1) return std::nullopt;
  const auto index = to_number<unsigned>(digits);
  return index && *index < count ? index : std::nullopt;
}

}  // namespace kbench::ptx

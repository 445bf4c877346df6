// SPDX-License-Identifier: MIT
#include "compile/split/locals.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "compile/split/item_names.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 16> kNoTypes = {
    "using", "typedef", "return", "else",      "new", "delete", "goto",     "case",
    "throw", "do",      "sizeof", "co_return", "if",  "while",  "operator", "typename"};
constexpr std::array<std::string_view, 17> kIntegralTypes = {
    "int",    "unsigned", "long",    "short",    "char",     "bool",
    "size_t", "int64_t",  "int32_t", "uint32_t", "uint64_t", "uint8_t",
    "int8_t", "uint16_t", "int16_t", "auto",     "ptrdiff_t"};

bool ends_declarator(std::string_view next) {
  constexpr std::array<std::string_view, 9> kEnds = {"=", ";", ",", "(", "{", "[", ":", ")", "}"};
  return is_one_of(next, kEnds);
}

/// The most tokens that a search for names covers.
constexpr std::size_t kMaxStatementTokens = 1024;

std::size_t first_looked_at(std::size_t at, std::size_t begin) {
  return at > kMaxStatementTokens ? std::max(begin, at - kMaxStatementTokens) : begin;
}

/// The index of the innermost bracket that is open at `at`, or kNoToken.
std::size_t enclosing_bracket(const SourceText& text, std::size_t at, std::size_t begin) {
  begin = first_looked_at(at, begin);
  for (std::size_t i = at; i > begin; --i) {
    const std::size_t before = i - 1;
    spend_steps(1);
    if (text.is(before, ")") || text.is(before, "]") || text.is(before, "}")) {
      if (text.partners[before] == kNoToken || text.partners[before] < begin) return kNoToken;
      i = text.partners[before] + 1;
    } else if (text.is(before, "(") || text.is(before, "[") || text.is(before, "{")) {
      return before;
    }
  }
  return kNoToken;
}

/// True if `at` begins a statement, the head of a for, or a lambda's parameter. In such a place "a
/// * b" declares b.
bool begins_declaration(const SourceText& text, std::size_t at, std::size_t begin) {
  if (at == begin) return true;
  const std::string_view before = text[at - 1].text;
  if (before == ";" || before == "{" || before == "}" || before == "const" ||
      before == "constexpr" || before == "static" || before == "unsigned") {
    return true;
  }
  if (before != "(" && before != ",") return false;
  const std::size_t open = enclosing_bracket(text, at, begin);
  if (open == kNoToken || open == begin || !text.is(open, "(")) return false;
  return text.is(open - 1, "]") || (before == "(" && text.is(open - 1, "for"));
}

/// True if the tokens before `at` can be the end of a type.
bool follows_type(const SourceText& text, std::size_t at, std::size_t begin) {
  std::size_t before = at;
  while (before > begin && (text.is(before - 1, "*") || text.is(before - 1, "&") ||
                            text.is(before - 1, "&&") || text.is(before - 1, "const"))) {
    --before;
  }
  if (before == begin) return false;
  std::size_t type = before - 1;
  bool is_certain = before == at;
  if (text.is(type, ">")) {
    const std::size_t angle = text.opening_angle(type, begin);
    if (angle == kNoToken || angle == begin) return false;
    type = angle - 1;
    is_certain = false;
  }
  if (!text[type].is_identifier() || is_one_of(text[type].text, kNoTypes)) return false;
  if (is_certain) return true;
  while (type >= begin + 2 && text.is(type - 1, "::") && text[type - 2].is_identifier()) type -= 2;
  return begins_declaration(text, type, begin);
}

/// True if the declaration of `at` has constexpr and an integral type.
bool is_integral_constant(const SourceText& text, std::size_t at, std::size_t begin) {
  bool is_constexpr = false, is_integral = false;
  begin = first_looked_at(at, begin);
  for (std::size_t i = at;
       i > begin && !text.is(i - 1, ";") && !text.is(i - 1, "{") && !text.is(i - 1, "}"); --i) {
    spend_steps(1);
    is_constexpr |= text.is(i - 1, "constexpr");
    is_integral |= is_one_of(text[i - 1].text, kIntegralTypes);
  }
  return is_constexpr && is_integral;
}

/// Further names of the declaration that begins with the name at `at`: "int a = 1, b = 2;".
void collect_rest(const SourceText& text, std::size_t at, std::size_t end, bool is_constant,
                  LocalNames& names) {
  end = std::min(end, at + kMaxStatementTokens);
  for (std::size_t i = at + 1; i < end && !text.is(i, ";");) {
    spend_steps(1);
    if (text.is(i, "(") || text.is(i, "[") || text.is(i, "{")) {
      i = text.after_group(i);
      continue;
    }
    if (text.is(i, ")") || text.is(i, "}")) return;
    std::size_t name = i + 1;
    while (text.is(i, ",") && (text.is(name, "*") || text.is(name, "&"))) ++name;
    if (text.is(i, ",") && text[name].is_identifier() && ends_declarator(text[name + 1].text)) {
      (is_constant ? names.constants : names.values).insert(text[name].text);
    }
    ++i;
  }
}

void collect_binding(const SourceText& text, std::size_t at, LocalNames& names) {
  for (std::size_t i = at + 1; i + 1 < text.after_group(at); ++i) {
    if (text[i].is_identifier()) names.values.insert(text[i].text);
  }
}

void collect_template(const SourceText& text, const SourceItem& function, LocalNames& names) {
  for (std::size_t i = function.begin; i < function.specifiers; ++i) {
    if (!text.is(i, "template") || !text.is(i + 1, "<")) continue;
    const std::size_t close = text.closing_angle(i + 1, function.specifiers);
    if (close == kNoToken) return;
    for (const SourceParameter& each : source_parameters(text, i + 1, close)) {
      const std::size_t name = each.declarator_end - 1;
      if (name == each.begin || !text[name].is_identifier()) continue;
      names.template_parameters[text[name].text] = one_line(text, each.begin, each.declarator_end);
    }
    i = close;
  }
}

}  // namespace

std::string one_line(const SourceText& text, std::size_t begin, std::size_t end) {
  std::string made;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && !text[i].space.empty()) made += ' ';
    made += text[i].text;
  }
  return made;
}

void collect_locals(const SourceText& text, std::size_t begin, std::size_t end, LocalNames& names) {
  for (std::size_t i = begin; i < end; ++i) {
    const SourceToken& token = text[i];
    spend_steps(1, token.line);
    if (token.is("using") && text.is(i + 2, "=")) names.types.insert(text[i + 1].text);
    if (token.text.starts_with("AT_DISPATCH")) {
      names.types.insert(token.is("AT_DISPATCH_INDEX_TYPES") ? "index_t" : "scalar_t");
    }
    const bool is_binding = token.is("[") && i > begin &&
                            (text.is(i - 1, "auto") || (i > begin + 1 && text.is(i - 2, "auto")));
    if (is_binding) collect_binding(text, i, names);
    if (!token.is_identifier() || is_type_word(token.text) || i == begin) continue;
    if (!ends_declarator(text[i + 1].text) || !follows_type(text, i, begin)) continue;
    const bool is_constant = is_integral_constant(text, i, begin);
    (is_constant ? names.constants : names.values).insert(token.text);
    collect_rest(text, i, end, is_constant, names);
  }
}

LocalNames local_names(const SourceText& text, const SourceItem& function, std::size_t end) {
  LocalNames names;
  collect_template(text, function, names);
  for (const SourceParameter& each : source_parameters(text, function.open, function.close)) {
    if (each.name != kNoToken) names.values.insert(text[each.name].text);
  }
  collect_locals(text, function.body, end, names);
  return names;
}

}  // namespace kbench

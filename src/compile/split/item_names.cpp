// SPDX-License-Identifier: MIT
#include "compile/split/item_names.hpp"

#include <array>

#include "base/text.hpp"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 15> kWordsWithArguments = {
    "__attribute__",     "__launch_bounds__", "__cluster_dims__", "__align__", "__builtin_align__",
    "alignas",           "decltype",          "__maxnreg__",      "noexcept",  "__block_size__",
    "__local_maxnreg__", "explicit",          "__declspec",       "requires",  "typeof"};
constexpr std::array<std::string_view, 33> kTypeWords = {
    "void",       "bool",      "char",     "short",        "int",        "long",
    "float",      "double",    "signed",   "unsigned",     "auto",       "const",
    "constexpr",  "volatile",  "static",   "inline",       "typename",   "extern",
    "mutable",    "return",    "struct",   "__restrict__", "__inline__", "__forceinline__",
    "__restrict", "consteval", "register", "class",        "enum",       "__grid_constant__",
    "union",      "restrict",  "wchar_t"};

bool opens_group(const SourceText& text, std::size_t at) {
  return text.is(at, "(") || text.is(at, "[") || text.is(at, "{");
}

/// The start of the template list that ends before `at`; `at` if there is none.
std::size_t before_angles(const SourceText& text, std::size_t at, std::size_t begin) {
  if (at <= begin || !text.is(at - 1, ">")) return at;
  const std::size_t angle = text.opening_angle(at - 1, begin);
  return angle == kNoToken ? at : angle;
}

/// The index of the comma or semicolon that ends the initialiser at `at`.
std::size_t after_initializer(const SourceText& text, std::size_t at, std::size_t end) {
  while (at + 1 < end && !text.is(at, ",") && !text.is(at, ";")) {
    at = opens_group(text, at) ? text.after_group(at) : at + 1;
  }
  return at;
}

/// The index after the brackets or template list at `at`; `at` if there is none.
std::size_t after_nested(const SourceText& text, std::size_t at, std::size_t begin,
                         std::size_t end) {
  if (opens_group(text, at)) return text.after_group(at);
  if (text.is(at, "<") && at > begin && text[at - 1].is_identifier()) {
    const std::size_t close = text.closing_angle(at, end);
    if (close != kNoToken) return close + 1;
  }
  return at;
}

/// The index of a parameter's name, or kNoToken.
std::size_t parameter_name(const SourceText& text, std::size_t begin, std::size_t end) {
  std::size_t last = kNoToken;
  bool has_type = false;
  for (std::size_t i = begin; i < end;) {
    if (text.is(i, "(") && i + 2 < end && text.is(i + 1, "*")) {
      // A pointer to a function or array: (*name)(…).
      return text[i + 2].is_identifier() ? i + 2 : kNoToken;
    }
    if (text.is(i, "[")) break;
    if (takes_arguments(text[i].text) && text.is(i + 1, "(")) {
      has_type |= text.is(i, "decltype");
      i = text.after_group(i + 1);
      continue;
    }
    const std::size_t after = after_nested(text, i, begin, end);
    if (after != i) {
      i = after;
      continue;
    }
    const bool is_name = text[i].is_identifier() && !is_type_word(text[i].text);
    const bool qualified = i > begin && text.is(i - 1, "::");
    if (is_name && has_type && !qualified && !text.is(i + 1, "::")) last = i;
    const std::string_view word = text[i].text;
    const bool is_cv = word == "const" || word == "volatile" || word == "typename" ||
                       word == "struct" || word == "class" || word == "enum" ||
                       word == "__grid_constant__" || word == "::";
    if (!is_cv) has_type = true;
    ++i;
  }
  return last;
}

}  // namespace

bool takes_arguments(std::string_view word) { return is_one_of(word, kWordsWithArguments); }
bool is_type_word(std::string_view word) { return is_one_of(word, kTypeWords); }

std::size_t after_attributes(const SourceText& text, std::size_t at) {
  for (;;) {
    if (text.is(at, "[") && text.is(at + 1, "[")) {
      at = text.after_group(at);
    } else if (takes_arguments(text[at].text) && text.is(at + 1, "(")) {
      at = text.after_group(at + 1);
    } else {
      return at;
    }
  }
}

void name_function(const SourceText& text, SourceItem& function) {
  std::size_t last = before_angles(text, function.open, function.specifiers);
  if (last <= function.specifiers) return;
  --last;
  std::vector<std::size_t> parts = {last};  // the last one first
  while (last >= function.specifiers + 2 && text.is(last - 1, "::")) {
    const std::size_t before = before_angles(text, last - 1, function.specifiers);
    if (before <= function.specifiers || !text[before - 1].is_identifier()) break;
    last = before - 1;
    parts.push_back(last);
  }
  for (std::size_t i = parts.size(); i > 0; --i) {
    function.name += text[parts[i - 1]].text;
    if (i > 1) function.name += "::";
  }
  function.names = {function.name};
}

void name_type(const SourceText& text, SourceItem& type, std::size_t type_word) {
  std::size_t at = after_attributes(text, type_word + 1);
  if (text.is(at, "class") || text.is(at, "struct")) at = after_attributes(text, at + 1);
  while (text[at].is_identifier() && text.is(at + 1, "::")) at += 2;
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (text[i].is_identifier() && !is_type_word(text[i].text)) {
        type.names.push_back(text[i].text);
      }
    }
  };
  add(at, at + 1);
  if (type.body != kNoToken) {
    if (text.is(type_word, "enum")) add(type.body + 1, type.body_end);
    add(type.body_end + 1, type.end);
  }
  if (!type.names.empty()) type.name = type.names.front();
}

void name_variables(const SourceText& text, SourceItem& variables) {
  std::size_t last_star = variables.specifiers, last_const = kNoToken;
  for (std::size_t i = variables.specifiers; i + 1 < variables.end;) {
    if (variables.names.empty() && text.is(i, "*")) last_star = i;
    if (variables.names.empty() && text.is(i, "const")) last_const = i;
    const std::size_t after = after_nested(text, i, variables.specifiers, variables.end);
    if (after != i) {
      i = after;
      continue;
    }
    const std::string_view next = text[i + 1].text;
    const bool ends = next == "=" || next == "[" || next == "{" || next == ";" || next == ",";
    if (ends && text[i].is_identifier() && !is_type_word(text[i].text)) {
      variables.names.push_back(text[i].text);
      i = after_initializer(text, i + 1, variables.end);
      continue;
    }
    ++i;
  }
  if (variables.name.empty() && !variables.names.empty()) variables.name = variables.names.front();
  variables.is_const =
      last_const != kNoToken && (last_const > last_star || last_star == variables.specifiers);
}

std::vector<SourceParameter> source_parameters(const SourceText& text, std::size_t open,
                                               std::size_t close) {
  std::vector<SourceParameter> parameters;
  if (close == open + 1 || (close == open + 2 && text.is(open + 1, "void"))) return parameters;
  SourceParameter current;
  current.begin = open + 1;
  current.declarator_end = kNoToken;
  for (std::size_t i = open + 1; i <= close;) {
    const std::size_t after = i == close ? i : after_nested(text, i, current.begin, close);
    if (after != i) {
      i = after;
      continue;
    }
    if (text.is(i, "...")) current.is_pack = true;
    if (text.is(i, "=") && current.declarator_end == kNoToken) current.declarator_end = i;
    if (i == close || text.is(i, ",")) {
      current.end = i;
      if (current.declarator_end == kNoToken) current.declarator_end = i;
      current.name = parameter_name(text, current.begin, current.declarator_end);
      parameters.push_back(current);
      current = SourceParameter{};
      current.begin = i + 1;
      current.declarator_end = kNoToken;
    }
    ++i;
  }
  return parameters;
}

}  // namespace kbench

// SPDX-License-Identifier: MIT
#include "compile/split/start.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

/// Words that look like calls but are not, and types that convert.
constexpr std::array<std::string_view, 31> kWords = {
    "sizeof",      "alignof",     "alignas",      "decltype",   "noexcept",
    "static_cast", "if",          "return",       "const_cast", "reinterpret_cast",
    "defined",     "offsetof",    "bool",         "char",       "short",
    "int",         "long",        "float",        "double",     "signed",
    "unsigned",    "auto",        "half",         "half2",      "bfloat16",
    "dim3",        "nv_bfloat16", "nv_bfloat162", "bit_cast",   "operator",
    "assert"};
/// Mathematical functions; each may end in f or l.
constexpr std::array<std::string_view, 47> kMathematics = {
    "abs",    "fabs",   "sqrt",   "rsqrt", "cbrt", "rcbrt", "exp",     "exp2",  "exp10", "expm1",
    "log",    "log2",   "log10",  "log1p", "pow",  "sin",   "cos",     "tan",   "asin",  "acos",
    "atan",   "atan2",  "sinh",   "cosh",  "tanh", "asinh", "acosh",   "atanh", "erf",   "erfc",
    "erfinv", "tgamma", "lgamma", "floor", "ceil", "round", "rint",    "trunc", "fmod",  "fmin",
    "fmax",   "min",    "max",    "hypot", "fma",  "ldexp", "copysign"};
/// Members of std that device code never has. All others are treated as constexpr.
constexpr std::array<std::string_view, 22> kHostOfStd = {
    "filesystem", "this_thread", "locale", "system",       "time",   "clock",
    "rand",       "srand",       "malloc", "calloc",       "fopen",  "tmpfile",
    "signal",     "atexit",      "async",  "setlocale",    "remove", "rename",
    "printf",     "puts",        "fputs",  "random_device"};

bool is_mathematics(std::string_view word) {
  if (is_one_of(word, kMathematics)) return true;
  return (word.ends_with('f') || word.ends_with('l')) &&
         is_one_of(word.substr(0, word.size() - 1), kMathematics);
}

/// True for names that device code has without a declaration: intrinsics, uint32_t(…),
/// make_float4(…), float4{…}.
bool is_of_device(std::string_view word) {
  if (is_one_of(word, kWords) || is_mathematics(word)) return true;
  const bool is_vector = !word.empty() && word.back() >= '1' && word.back() <= '4' &&
                         is_one_of(word.substr(0, word.size() - 1), kWords);
  return is_vector || word.starts_with("__") || word.starts_with("make_") || word.ends_with("_t");
}

bool is(const SourceTokens& tokens, std::size_t at, std::string_view what) {
  return at < tokens.size() && tokens[at].is(what);
}

bool opens_lambda(const SourceTokens& tokens, std::size_t begin, std::size_t at) {
  if (!is(tokens, at, "[") || is(tokens, at + 1, "[")) return false;
  if (at == begin) return true;
  const SourceToken& before = tokens[at - 1];
  if (before.is("return")) return true;
  // After these, [ begins a subscript or an attribute.
  return before.kind == SourceKind::kPunctuator && !before.is(")") && !before.is("]") &&
         !before.is("[") && !before.is(">");
}

/// The index after the template list at `at`; `at` if there is none. A comparison may look like
/// one, but no `(` follows it.
std::size_t after_angles(const SourceTokens& tokens, std::size_t at, std::size_t end) {
  if (!is(tokens, at, "<")) return at;
  int depth = 0;
  end = std::min(end, at + kMaxTemplateTokens);
  for (std::size_t i = at; i < end; ++i) {
    spend_steps(1, tokens[i].line);
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("=")) return at;
    if (tokens[i].is("<")) ++depth;
    if (tokens[i].is(">") && --depth == 0) return i + 1;
  }
  return at;
}

}  // namespace

/// `at` is the last name of a::b::name; the decision uses all its names.
bool LoadTime::is_host_call(const SourceTokens& tokens, std::size_t begin, std::size_t at) const {
  const std::string_view name = tokens[at].text;
  std::size_t first = at;
  bool is_known = is_declared_(name), is_hosts_std = is_one_of(name, kHostOfStd);
  while (first >= begin + 2 && tokens[first - 1].is("::") && tokens[first - 2].is_identifier()) {
    first -= 2;
    is_known |= is_declared_(tokens[first].text);
    is_hosts_std |= is_one_of(tokens[first].text, kHostOfStd);
  }
  const bool is_member = first > begin && (tokens[first - 1].is(".") || tokens[first - 1].is("->"));
  // A member of a template instance follows a >: numeric_limits<float>::max.
  const bool is_of_template =
      first >= begin + 2 && tokens[first - 1].is("::") && tokens[first - 2].is(">");
  if (is_known || is_member || is_of_template) return false;
  if (first != at) {
    const std::string_view space = tokens[first].text;
    return space == "std" ? is_hosts_std : space != "cuda" && space != "at" && space != "c10";
  }
  return !is_of_device(name);
}

bool LoadTime::is_macro(const SourceToken& name) const {
  return unit_.macros.is_conditional(name.text) ||
         unit_.macros.find(name.text, name.line) != nullptr;
}

bool LoadTime::runs_by_macro(const std::string& name, int line) {
  // The branch of an #if that is compiled is unknown here.
  if (unit_.macros.is_conditional(name)) return false;
  const SourceMacro* macro = unit_.macros.find(name, line);
  if (macro == nullptr) return false;
  const auto [known, is_new] = macros_.try_emplace(name, false);
  if (is_new) known->second = holds_call(macro->body, 0, macro->body.size());
  return known->second;
}

bool LoadTime::holds_call(const SourceTokens& tokens, std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (opens_lambda(tokens, begin, i)) return true;
    if (!tokens[i].is_identifier()) continue;
    if (tokens[i].is("new")) return true;
    const bool is_call = is(tokens, after_angles(tokens, i + 1, end), "(");
    if (is_call && !is_macro(tokens[i]) && is_host_call(tokens, begin, i)) return true;
  }
  return false;
}

bool LoadTime::runs(const SourceItem& variable,
                    const std::set<std::string, std::less<>>& mentions) {
  if (variable.initializer == kNoToken) return false;
  if (holds_call(unit_.text.tokens, variable.initializer, variable.end)) return true;
  const int line = unit_.text[variable.begin].line;
  return std::any_of(mentions.begin(), mentions.end(),
                     [this, line](const std::string& name) { return runs_by_macro(name, line); });
}

}  // namespace kbench

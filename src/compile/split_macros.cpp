// SPDX-License-Identifier: MIT
#include "compile/split_macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kbench {
namespace {

constexpr std::array<std::string_view, 5> kSpaceAttributes = {
    "__global__", "__device__", "__host__", "__constant__", "__managed__"};

constexpr std::size_t kMaxIdentifiers = 500'000;

/// What torch's headers would have defined; a source that includes them may write it before
/// kernels.
constexpr std::string_view kKnownMacros = R"cuda(
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
)cuda";

/// The parameters of a function-like macro; `at` is the opening bracket, the result is behind the
/// closing one.
std::size_t read_parameters(const SourceTokens& tokens, std::size_t at, SourceMacro& macro) {
  macro.is_function = true;
  for (++at; at < tokens.size() && !tokens[at].is(")"); ++at) {
    if (tokens[at].is("...")) {
      macro.is_variadic = true;
      // "args..." names the rest itself.
      if (at > 0 && tokens[at - 1].is_identifier() && !macro.parameters.empty()) continue;
      macro.parameters.emplace_back("__VA_ARGS__");
    } else if (tokens[at].is_identifier()) {
      macro.parameters.push_back(tokens[at].text);
    }
  }
  return std::min(at + 1, tokens.size());
}

bool same_body(const SourceMacro& a, const SourceMacro& b) {
  return std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(),
                    [](const SourceToken& x, const SourceToken& y) { return x.text == y.text; });
}

}  // namespace

bool is_space_attribute(std::string_view word) {
  return std::find(kSpaceAttributes.begin(), kSpaceAttributes.end(), word) !=
         kSpaceAttributes.end();
}

SourceMacros::SourceMacros(const SourceTokens& tokens) {
  for (const SourceToken& token : tokens) {
    if (!token.is_directive()) continue;
    if (directive_name(token) == "define") define(token);
    if (directive_name(token) == "undef") {
      const SourceTokens words = directive_tokens(token);
      // A mark: what comes after it is another macro, no branch of the same one.
      const auto found = words.size() > 1 ? macros_.find(words[1].text) : macros_.end();
      if (found != macros_.end()) found->second.push_back({{}, false, false, {}, {}, token.line});
    }
  }
  for (const SourceToken& token : source_tokens(kKnownMacros)) {
    if (!token.is_directive() || macros_.contains(directive_tokens(token)[1].text)) continue;
    define(token);
    macros_.find(directive_tokens(token)[1].text)->second.back().line = 0;
  }
  for (const auto& [name, definitions] : macros_) collect(name);
}

void SourceMacros::define(const SourceToken& directive) {
  const SourceTokens tokens = directive_tokens(directive);
  if (tokens.size() < 3 || !tokens[1].is_identifier()) return;
  SourceMacro macro;
  macro.name = tokens[1].text;
  macro.line = directive.line;
  std::size_t at = 2;
  if (tokens[at].is("(") && tokens[at].space.empty()) at = read_parameters(tokens, at, macro);
  for (; at + 1 < tokens.size(); ++at) macro.body.push_back(tokens[at]);
  macros_[macro.name].push_back(std::move(macro));
}

const SourceMacro* SourceMacros::find(std::string_view name, int line) const {
  const auto found = macros_.find(name);
  if (found == macros_.end()) return nullptr;
  const SourceMacro* chosen = nullptr;
  for (const SourceMacro& macro : found->second) {
    if (macro.line > line) break;
    if (macro.name.empty()) {
      chosen = nullptr;  // #undef
      continue;
    }
    if (chosen == nullptr || !has_attributes(*chosen)) {
      chosen = &macro;
    } else if (has_attributes(macro) && !same_body(*chosen, macro) && macro.is_function) {
      throw SplitRefusal{
          "conditional_macro",
          fmt::format("the macro {} declares different things in the branches of an #if", name),
          macro.line};
    }
  }
  return chosen;
}

unsigned SourceMacros::own_marks(const SourceMacro& macro) {
  unsigned found = 0;
  for (std::size_t i = 0; i < macro.body.size(); ++i) {
    const SourceToken& token = macro.body[i];
    if (is_space_attribute(token.text) || token.is("__launch_bounds__")) found |= kAttribute;
    if (token.is("{") || token.is("}") || token.is(";")) found |= kStructure;
    if (token.is("<") && i + 2 < macro.body.size() && macro.body[i + 1].is("<") &&
        macro.body[i + 2].is("<")) {
      found |= kStructure;
    }
  }
  return found;
}

unsigned SourceMacros::marks(const SourceMacro& macro) const {
  unsigned found = own_marks(macro);
  for (const SourceToken& token : macro.body) {
    const auto inner = marks_.find(token.text);
    if (inner != marks_.end()) found |= inner->second;
  }
  return found;
}

bool SourceMacros::declares(const SourceMacro& macro) const { return marks(macro) != 0; }

bool SourceMacros::is_conditional(std::string_view name) const {
  const auto found = macros_.find(name);
  if (found == macros_.end()) return false;
  const auto& definitions = found->second;
  return std::adjacent_find(definitions.begin(), definitions.end(),
                            [](const SourceMacro& a, const SourceMacro& b) {
                              return !a.name.empty() && !b.name.empty();
                            }) != definitions.end();
}

void SourceMacros::collect(const std::string& name) {
  std::set<std::string, std::less<>>& names = identifiers_[name];
  unsigned& found = marks_[name];
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const auto macro = macros_.find(open.back());
    open.pop_back();
    if (macro == macros_.end()) continue;
    for (const SourceMacro& definition : macro->second) {
      found |= own_marks(definition);
      for (const SourceToken& token : definition.body) {
        if (token.is_identifier() && names.insert(token.text).second) open.push_back(token.text);
      }
    }
  }
  total_ += names.size();
  if (total_ > kMaxIdentifiers) {
    throw SplitRefusal{"too_large", "the macros of the source name too much", 1};
  }
}

const std::set<std::string, std::less<>>& SourceMacros::identifiers(std::string_view name) const {
  static const std::set<std::string, std::less<>> kNone;
  const auto found = identifiers_.find(name);
  return found == identifiers_.end() ? kNone : found->second;
}

}  // namespace kbench

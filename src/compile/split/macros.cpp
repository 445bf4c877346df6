// SPDX-License-Identifier: MIT
#include "compile/split/macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compile/split/work.hpp"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 5> kSpaceAttributes = {
    "__global__", "__device__", "__host__", "__constant__", "__managed__"};

constexpr std::size_t kMaxIdentifiers = 500'000;

/// Macros of torch's headers that may precede kernels in a source.
constexpr std::string_view kKnownMacros = R"cuda(
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
)cuda";

/// Reads the parameters of a function-like macro. `at` is the opening bracket. Returns the index
/// after the closing one.
std::size_t read_parameters(const SourceTokens& tokens, std::size_t at, SourceMacro& macro) {
  macro.is_function = true;
  for (++at; at < tokens.size() && !tokens[at].is(")"); ++at) {
    if (tokens[at].is("...")) {
      macro.is_variadic = true;
      // "args..." names the variadic arguments itself.
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
      // Marks the #undef: a later #define is another macro, not a branch of the same one.
      const auto found = words.size() > 1 ? macros_.find(words[1].text) : macros_.end();
      if (found != macros_.end())
        found->second.all.push_back({{}, false, false, {}, {}, token.line, 0});
    }
  }
  for (const SourceToken& token : source_tokens(kKnownMacros)) {
    if (!token.is_directive() || macros_.contains(directive_tokens(token)[1].text)) continue;
    define(token);
    macros_.find(directive_tokens(token)[1].text)->second.all.back().line = 0;
  }
  for (auto& [name, definitions] : macros_) summarize(definitions);
  for (const auto& [name, definitions] : macros_) collect(name);
  for (auto& [name, definitions] : macros_) settle(definitions);
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
  std::vector<SourceMacro>& all = macros_[macro.name].all;
  all.push_back(std::move(macro));
}

const SourceMacro* SourceMacros::find(std::string_view name, int line) const {
  const auto found = macros_.find(name);
  if (found == macros_.end()) return nullptr;
  const std::vector<SourceMacro>& all = found->second.all;
  const auto behind =
      std::upper_bound(all.begin(), all.end(), line,
                       [](int wanted, const SourceMacro& macro) { return wanted < macro.line; });
  if (behind == all.begin()) return nullptr;
  const Meaning& meaning =
      found->second.meanings[static_cast<std::size_t>(behind - all.begin()) - 1];
  if (meaning.is_conflict) {
    throw SplitRefusal{
        "conditional_macro",
        fmt::format("the macro {} declares different things in the branches of an #if", name),
        meaning.line};
  }
  return meaning.definition == kNoToken ? nullptr : &all[meaning.definition];
}

/// Sets the meaning that a use has after each of the definitions.
void SourceMacros::settle(Definitions& definitions) {
  std::vector<SourceMacro>& all = definitions.all;
  Meaning meaning;
  for (std::size_t i = 0; i < all.size(); ++i) {
    SourceMacro& macro = all[i];
    macro.marks = marks(macro);
    if (macro.name.empty()) {
      if (!meaning.is_conflict) meaning.definition = kNoToken;  // #undef
    } else if (meaning.definition == kNoToken || !has_attributes(all[meaning.definition])) {
      meaning.definition = i;
    } else if (has_attributes(macro) && !same_body(all[meaning.definition], macro) &&
               macro.is_function && !meaning.is_conflict) {
      meaning.is_conflict = true;
      meaning.line = macro.line;
    }
    definitions.is_conditional |= i > 0 && !all[i - 1].name.empty() && !macro.name.empty();
    definitions.meanings.push_back(meaning);
  }
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

bool SourceMacros::declares(const SourceMacro& macro) const { return macro.marks != 0; }

bool SourceMacros::is_conditional(std::string_view name) const {
  const auto found = macros_.find(name);
  return found != macros_.end() && found->second.is_conditional;
}

/// Reads each body only once, even if many macros name it.
void SourceMacros::summarize(Definitions& definitions) {
  for (const SourceMacro& definition : definitions.all) {
    definitions.own_marks |= own_marks(definition);
    for (const SourceToken& token : definition.body) {
      if (token.is_identifier()) definitions.words.insert(token.text);
    }
  }
}

void SourceMacros::collect(const std::string& name) {
  std::set<std::string, std::less<>>& names = identifiers_[name];
  unsigned& found = marks_[name];
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const auto macro = macros_.find(open.back());
    open.pop_back();
    if (macro == macros_.end()) continue;
    found |= macro->second.own_marks;
    spend_steps(kLookupSteps * (1 + macro->second.words.size()));
    for (const std::string& word : macro->second.words) {
      if (names.insert(word).second) open.push_back(word);
    }
  }
  total_ += names.size();
  if (total_ > kMaxIdentifiers) {
    throw SplitRefusal{"too_large", "the macros of the source contain too many names", 1};
  }
}

const std::set<std::string, std::less<>>& SourceMacros::identifiers(std::string_view name) const {
  static const std::set<std::string, std::less<>> kNone;
  const auto found = identifiers_.find(name);
  return found == identifiers_.end() ? kNone : found->second;
}

}  // namespace kbench

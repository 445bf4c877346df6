// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "compile/split/macros.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

constexpr int kMaxExpansions = 24;
constexpr std::size_t kMaxTokens = 400'000;

using Arguments = std::vector<SourceTokens>;

/// True if a macro contains only a part of a launch, without the kernel or the arguments.
bool is_part_of_launch(const SourceTokens& body) {
  const auto triple = [&body](std::size_t at, std::string_view what) {
    return body[at].is(what) && body[at + 1].is(what) && body[at + 2].is(what);
  };
  return body.size() > 3 && (triple(0, "<") || triple(body.size() - 3, ">"));
}

std::string as_string(const SourceTokens& tokens) {
  std::string text = "\"";
  for (const SourceToken& token : tokens) {
    if (text.size() > 1 && !token.space.empty()) text += ' ';
    for (const char c : token.text) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "\"";
}

/// The body of one macro with its parameters replaced.
class Substitution {
 public:
  Substitution(const SourceMacro& macro, const Arguments& arguments)
      : macro_(macro), arguments_(arguments) {}

  SourceTokens made() {
    const SourceTokens& body = macro_.body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i].is("#") && i + 1 < body.size() && argument(body[i + 1]) != nullptr) {
        SourceToken text = body[i];
        text.kind = SourceKind::kString;
        text.text = as_string(*argument(body[++i]));
        push(text);
      } else if (body[i].is("##") && i + 1 < body.size()) {
        paste(body[++i]);
      } else {
        append(body[i]);
      }
    }
    return std::move(made_);
  }

 private:
  const SourceTokens* argument(const SourceToken& token) const {
    const auto& names = macro_.parameters;
    spend_steps(1 + names.size(), token.line);
    const auto found = std::find(names.begin(), names.end(), token.text);
    if (found == names.end() || !token.is_identifier()) return nullptr;
    const auto index = static_cast<std::size_t>(found - names.begin());
    static const SourceTokens kNone;
    return index < arguments_.size() ? &arguments_[index] : &kNone;
  }

  void push(SourceToken token) {
    spend_steps(kLookupSteps, token.line);
    spend_bytes(token.text.size(), token.line);
    if (!token.space.empty()) token.space = " ";
    made_.push_back(std::move(token));
  }

  void append(const SourceToken& token) {
    const SourceTokens* tokens = argument(token);
    if (tokens == nullptr) return push(token);
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      push((*tokens)[i]);
      if (i == 0) made_.back().space = token.space.empty() ? "" : " ";
    }
  }

  void paste(const SourceToken& token) {
    const SourceTokens* tokens = argument(token);
    if (tokens != nullptr) spend_steps(kLookupSteps * tokens->size(), token.line);
    const SourceTokens right = tokens == nullptr ? SourceTokens{token} : *tokens;
    // GNU extension: a comma before empty variadic arguments is removed.
    if (!made_.empty() && made_.back().is(",") && tokens != nullptr) {
      if (right.empty()) made_.pop_back();
      for (const SourceToken& each : right) push(each);
      return;
    }
    if (made_.empty() || right.empty()) {
      for (const SourceToken& each : right) push(each);
      return;
    }
    spend_bytes(right.front().text.size(), token.line);
    made_.back().text += right.front().text;
    for (std::size_t i = 1; i < right.size(); ++i) push(right[i]);
  }

  const SourceMacro& macro_;
  const Arguments& arguments_;
  SourceTokens made_;
};

class Expander {
 public:
  explicit Expander(const SourceMacros& macros) : macros_(macros) {}
  SourceTokens expanded(const SourceTokens& tokens) {
    feed(tokens, 0, -1);
    return std::move(out_);
  }

 private:
  void feed(const SourceTokens& tokens, int depth, int use_line);
  bool hides(const SourceMacro& macro) const;
  std::size_t use(const SourceTokens& tokens, std::size_t at, const SourceMacro& macro, int depth,
                  int use_line);
  void emit(SourceToken token);
  bool opens_namespace() const;

  const SourceMacros& macros_;
  SourceTokens out_;
  std::vector<bool> scopes_;     ///< for each open bracket: true for a namespace's
  std::size_t inner_depth_ = 0;  ///< open brackets that are not a namespace's
  std::string line_ends_;        ///< of arguments, written before the next token
};

/// True if a brace after `out_` would open a namespace or extern "C".
bool Expander::opens_namespace() const {
  std::size_t at = out_.size();
  if (at > 1 && out_[at - 1].kind == SourceKind::kString && out_[at - 2].is("extern")) return true;
  while (at > 0 && (out_[at - 1].is_identifier() || out_[at - 1].is("::"))) {
    if (out_[--at].is("namespace")) return true;
  }
  return false;
}

void Expander::emit(SourceToken token) {
  token.space = std::exchange(line_ends_, "") + token.space;
  if (token.is("{") || token.is("(") || token.is("[")) {
    scopes_.push_back(token.is("{") && opens_namespace());
    inner_depth_ += scopes_.back() ? 0 : 1;
  } else if ((token.is("}") || token.is(")") || token.is("]")) && !scopes_.empty()) {
    inner_depth_ -= scopes_.back() ? 0 : 1;
    scopes_.pop_back();
  }
  out_.push_back(std::move(token));
  if (out_.size() > kMaxTokens) {
    throw SplitRefusal{"too_large", "the source is too long, or its macros expand without end",
                       out_.back().line};
  }
}

bool Expander::hides(const SourceMacro& macro) const {
  if (is_part_of_launch(macro.body) || macros_.has_attributes(macro)) return true;
  // At namespace scope, the macro may be a declaration, or a name within one.
  return macro.is_function && inner_depth_ == 0 &&
         (macros_.declares(macro) || !macros_.is_conditional(macro.name));
}

/// The arguments of a macro's use; `open` is their opening bracket. Sets `end` to the index after
/// the closing one.
Arguments arguments_of(const SourceTokens& tokens, std::size_t open, const SourceMacro& macro,
                       std::size_t& end) {
  Arguments arguments(1);
  int depth = 0;
  for (end = open; end < tokens.size(); ++end) {
    const SourceToken& token = tokens[end];
    if (token.is("(") && ++depth == 1) continue;
    if (token.is(")") && --depth == 0) break;
    const bool is_rest = macro.is_variadic && arguments.size() >= macro.parameters.size();
    spend_steps(kCopySteps, token.line);
    if (token.is(",") && depth == 1 && !is_rest) {
      arguments.emplace_back();
    } else if (token.kind != SourceKind::kEnd) {
      arguments.back().push_back(token);
    }
  }
  end = std::min(end + 1, tokens.size());
  return arguments;
}

std::string line_ends(const SourceTokens& tokens, std::size_t begin, std::size_t end) {
  std::string found;
  for (std::size_t i = begin; i < end; ++i) {
    for (const char c : tokens[i].space + tokens[i].text) found += c == '\n' ? "\n" : "";
  }
  return found;
}

/// Expands the use of a macro at `at`; returns the index after it.
std::size_t Expander::use(const SourceTokens& tokens, std::size_t at, const SourceMacro& macro,
                          int depth, int use_line) {
  spend_steps(kMacroSteps, use_line);
  std::size_t end = at + 1;
  Arguments arguments;
  if (macro.is_function) arguments = arguments_of(tokens, at + 1, macro, end);
  SourceTokens made = Substitution(macro, arguments).made();
  if (!made.empty()) made.front().space = tokens[at].space;
  if (made.empty()) line_ends_ += tokens[at].space;
  feed(made, depth + 1, use_line);
  if (depth == 0) line_ends_ += line_ends(tokens, at + 1, end);
  return end;
}

void Expander::feed(const SourceTokens& tokens, int depth, int use_line) {
  for (std::size_t i = 0; i < tokens.size();) {
    SourceToken token = tokens[i];
    const int line = use_line < 0 ? token.line : use_line;
    const bool has_arguments = i + 1 < tokens.size() && tokens[i + 1].is("(");
    const SourceMacro* macro =
        token.is_identifier() && depth < kMaxExpansions ? macros_.find(token.text, line) : nullptr;
    if (macro != nullptr && (has_arguments || !macro->is_function) && hides(*macro)) {
      i = use(tokens, i, *macro, depth, line);
      continue;
    }
    token.line = line;
    emit(std::move(token));
    ++i;
  }
}

}  // namespace

SourceTokens expand_macros(const SourceTokens& tokens, const SourceMacros& macros) {
  return Expander(macros).expanded(tokens);
}

}  // namespace kbench

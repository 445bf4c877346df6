// SPDX-License-Identifier: MIT
#include "compile/host/implicit_headers.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/text.hpp"
#include "compile/split/tokens.hpp"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 4> kTorchFolders{"torch/", "ATen/", "c10/", "pybind11/"};
constexpr std::array<std::string_view, 5> kNamespaces{"torch", "at", "c10", "py", "pybind11"};
constexpr std::array<std::string_view, 3> kMacros{"PYBIND11_MODULE", "TORCH_CHECK",
                                                  "TORCH_LIBRARY"};

/// True if a directive includes one of torch's headers, or includes a macro, which may name any
/// header.
bool may_bring_headers(const SourceToken& directive) {
  if (directive_name(directive) != "include") return false;
  const auto open = directive.text.find_first_of("<\"");
  if (open == std::string::npos) return true;
  const std::string_view path = std::string_view(directive.text).substr(open + 1);
  return starts_with_any(path, kTorchFolders);
}

bool is_name_of(const SourceToken& token, std::span<const std::string_view> names) {
  return token.is_identifier() && is_one_of(token.text, names);
}

/// True if a source itself declares a namespace of torch or pybind11: `namespace at { class Tensor;
/// }`.
bool declares(const SourceTokens& tokens, std::size_t at) {
  return tokens[at].is("namespace") && is_name_of(tokens[at + 1], kNamespaces);
}

bool names_torch(const SourceTokens& tokens, std::size_t at) {
  return is_name_of(tokens[at], kMacros) ||
         (is_name_of(tokens[at], kNamespaces) && tokens[at + 1].is("::"));
}

}  // namespace

std::optional<std::string> name_without_header(std::span<const HostText> texts, bool is_bound) {
  for (const HostText& text : texts) {
    const SourceTokens tokens = source_tokens(text.text);
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {  // the last token is the end
      const SourceToken& token = tokens[at];
      if ((token.is_directive() && may_bring_headers(token)) || declares(tokens, at))
        return std::nullopt;
      if (names_torch(tokens, at))
        return fmt::format(
            "{}:{}: '{}' has not been declared: with no_implicit_headers, the sources "
            "have to include torch's headers",
            text.name, token.line, token.text);
    }
  }
  if (!is_bound || texts.empty()) return std::nullopt;
  return fmt::format(
      "{}: pybind11 binds the functions, but with no_implicit_headers none of the cpp_sources "
      "includes <torch/extension.h>",
      texts.back().name);
}

}  // namespace kbench

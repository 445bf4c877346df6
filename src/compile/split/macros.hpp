// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compile/split/tokens.hpp"

namespace kbench {

/// One #define of a source.
struct SourceMacro {
  std::string name;
  bool is_function = false;
  bool is_variadic = false;
  std::vector<std::string> parameters;  ///< the last one of a variadic macro is __VA_ARGS__
  SourceTokens body;                    ///< without the end token
  int line = 0;
  unsigned marks = 0;  ///< SourceMacros::Mark bits of its body and of the macros in it
};

/// The macros that a source defines, and facts about them that need no preprocessor.
class SourceMacros {
 public:
  explicit SourceMacros(const SourceTokens& tokens);

  /// The definition for a use at `line`, or null. Among branches of an #if, this is the one for
  /// nvcc: with __global__ or __device__. Throws SplitRefusal if several such definitions conflict.
  const SourceMacro* find(std::string_view name, int line) const;
  /// True if the body names __global__, __device__ or another such word, or a macro that does.
  bool has_attributes(const SourceMacro& macro) const { return (macro.marks & kAttribute) != 0; }
  /// True if the body, or that of a macro in it, has attributes, braces, semicolons or launches.
  bool declares(const SourceMacro& macro) const;
  /// True if several definitions of the name are in branches of an #if.
  bool is_conditional(std::string_view name) const;
  /// All identifiers that a use of the macro may expand to; empty if `name` is not a macro.
  const std::set<std::string, std::less<>>& identifiers(std::string_view name) const;

 private:
  using Words = std::set<std::string, std::less<>>;
  enum Mark : unsigned { kAttribute = 1, kStructure = 2 };
  /// What a use after a definition means: an index, or kNoToken after an #undef.
  struct Meaning {
    std::size_t definition = kNoToken;
    bool is_conflict = false;
    int line = 0;  ///< of the definition that conflicts
  };
  /// All definitions of one name, in the order of the source; an #undef counts as a nameless one.
  struct Definitions {
    std::vector<SourceMacro> all;
    std::vector<Meaning> meanings;  ///< after each of `all`
    bool is_conditional = false;
    Words words;  ///< of all bodies
    unsigned own_marks = 0;
  };
  static unsigned own_marks(const SourceMacro& macro);
  unsigned marks(const SourceMacro& macro) const;
  void define(const SourceToken& directive);
  void summarize(Definitions& definitions);
  void collect(const std::string& name);
  void settle(Definitions& definitions);

  std::map<std::string, Definitions, std::less<>> macros_;
  std::map<std::string, Words, std::less<>> identifiers_;
  std::map<std::string, unsigned, std::less<>> marks_;  ///< of all that a name may expand to
  std::size_t total_ = 0;
};

/// True for __global__, __device__, __host__, __constant__, __managed__.
bool is_space_attribute(std::string_view word);

/// Expands the macros that hide parts that the source splitter needs: attributes, declarations at
/// namespace scope, device lambdas, `<<<`. Line ends keep their places.
SourceTokens expand_macros(const SourceTokens& tokens, const SourceMacros& macros);

}  // namespace kbench
